package sweep

import "testing"

func TestPeak(t *testing.T) {
	for want, change := range map[int]func(*Plan){
		512: func(*Plan) {},
		64:  func(p *Plan) { p.Levels = []int{8, 64} },
		192: func(p *Plan) { p.Point = 128 }, // and the next ladder value
		128: func(p *Plan) { p.Point, p.Check = 128, true },
	} {
		p := DefaultPlan(Quick)
		change(&p)
		if got := p.Peak(); got != want {
			t.Errorf("%+v: peak %d, want %d", p, got, want)
		}
	}
}
