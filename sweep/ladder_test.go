package sweep

import (
	"math"
	"slices"
	"testing"
)

func TestLadderLaws(t *testing.T) {
	if !slices.IsSorted(Ladder) {
		t.Fatal("the ladder is not ascending")
	}
	for i, n := range Ladder {
		if LadderFloor(float64(n)) != n {
			t.Errorf("LadderFloor(%d) = %d", n, LadderFloor(float64(n)))
		}
		if i > 0 && (LadderNext(Ladder[i-1]) != n || ladderPrev(n) != Ladder[i-1]) {
			t.Errorf("%d is not next to %d", n, Ladder[i-1])
		}
		if i > 1 {
			if r := float64(n) / float64(Ladder[i-1]); r < 1.3 || r > 1.5+1e-9 {
				t.Errorf("step to %d is ×%.2f", n, r)
			}
		}
		if ladderNear(float64(n)*1.1) != n {
			t.Errorf("near %v is %d", float64(n)*1.1, ladderNear(float64(n)*1.1))
		}
	}
	for v := 0.5; v < 5000; v *= 1.07 {
		f := LadderFloor(v)
		if float64(f) > v {
			t.Errorf("LadderFloor(%v) = %d is above", v, f)
		}
		if next := LadderNext(f); next != 0 && float64(next) <= v {
			t.Errorf("LadderFloor(%v) = %d, but %d fits", v, f, next)
		}
	}
	if LadderFloor(0.8*160) != 128 || LadderFloor(0.5) != 0 || LadderFloor(math.NaN()) != 0 {
		t.Error("LadderFloor at its edges")
	}
	if LadderNext(maxLevel) != 0 || ladderPrev(1) != 0 {
		t.Error("the ladder has no ends")
	}
}

func TestCoarseLevels(t *testing.T) {
	for _, c := range []struct {
		top  int
		want []int
	}{
		{512, []int{8, 16, 32, 64, 128, 256, 512}},
		{100, []int{8, 16, 32, 64, 96}},
		{8, []int{8}},
		{5, []int{4}},
		{1, []int{1}},
	} {
		if got := coarseLevels(c.top); !slices.Equal(got, c.want) {
			t.Errorf("up to %d: %v, want %v", c.top, got, c.want)
		}
	}
}
