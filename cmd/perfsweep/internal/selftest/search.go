package selftest

import "math"

// step is the finest ratio that the search resolves, a quarter of an octave:
// finer than two runs of a machine agree.
const step = 1.19

// search looks for the largest load in [1, most] that passes, by doubling from
// first and then bisecting in ratio. A load has failed when try has said so
// twice in a row: one unlucky moment of a shared machine is no ceiling. more
// says whether there is time for another try; without it the search ends with
// what is known.
//
// fails is the smallest load that was seen to fail, 0 if none was.
func search(first, most int, more func() bool, try func(n int) (passed bool, err error)) (best, fails int, err error) {
	twice := func(n int) (bool, error) {
		for range 2 {
			if !more() {
				return false, errNoTime
			}
			if ok, err := try(n); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	for n := min(first, most); n > 0; {
		ok, err := twice(n)
		if err != nil {
			return best, fails, ended(err)
		}
		switch {
		case ok:
			best = n
		default:
			fails = n
		}
		switch {
		case best == most:
			return best, fails, nil
		case fails == 0:
			n = min(2*best, most)
		case best == 0:
			n = fails / 2
		case float64(fails)/float64(best) <= step:
			return best, fails, nil
		default:
			n = int(math.Round(math.Sqrt(float64(best) * float64(fails))))
			if n == best || n == fails {
				return best, fails, nil
			}
		}
	}
	return best, fails, nil
}
