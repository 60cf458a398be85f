package selftest

import (
	"errors"
	"testing"
)

// TestSearch: on a machine with a sharp ceiling the answer is within a step of
// it, from whichever side it comes.
func TestSearch(t *testing.T) {
	always := func() bool { return true }
	for ceiling := 1; ceiling <= 5000; ceiling += 1 + ceiling/9 {
		tries := 0
		best, fails, err := search(64, 4096, always, func(n int) (bool, error) {
			tries++
			return n <= ceiling, nil
		})
		if err != nil || best > ceiling || ceiling < 4096 && (fails <= ceiling || fails > best+1 && float64(fails) > step*float64(best)) {
			t.Errorf("ceiling %d: best %d, fails %d, %v", ceiling, best, fails, err)
		}
		if ceiling >= 4096 && (best != 4096 || fails != 0) {
			t.Errorf("no ceiling in the range: best %d, fails %d", best, fails)
		}
		if tries > 30 {
			t.Errorf("ceiling %d: %d tries", ceiling, tries)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	always := func() bool { return true }
	if best, fails, err := search(64, 4096, always, func(int) (bool, error) { return false, nil }); best != 0 || fails != 1 || err != nil {
		t.Errorf("nothing passes: %d, %d, %v", best, fails, err)
	}
	left := 3
	best, fails, err := search(64, 4096, func() bool { left--; return left >= 0 }, func(int) (bool, error) { return true, nil })
	if best != 256 || fails != 0 || err != nil {
		t.Errorf("time for three: %d, %d, %v", best, fails, err)
	}
	broken := errors.New("broken")
	if _, _, err := search(64, 4096, always, func(n int) (bool, error) { return n < 128, map[bool]error{n >= 128: broken}[true] }); !errors.Is(err, broken) {
		t.Errorf("an error was lost: %v", err)
	}
	// One bad moment at a load that the machine drives does not lower the ceiling.
	hiccup := map[int]int{128: 1, 512: 1}
	best, _, err = search(64, 1024, always, func(n int) (bool, error) {
		if hiccup[n] > 0 {
			hiccup[n]--
			return false, nil
		}
		return true, nil
	})
	if best != 1024 || err != nil {
		t.Errorf("with two hiccups: %d, %v", best, err)
	}
}
