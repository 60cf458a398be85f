package knee

// Find fits the runs. Runs must already have passed the run gates.
func Find(runs []Run, opt Options) Fit { panic("not built") }

// GapThreshold is T(r, s, df) of knee.md §18.2 (F6, C1): a gap of ln X larger
// than this between adjacent sorted runs of a level of r runs is a split.
func GapThreshold(r int, s float64, df int) float64 { panic("not built") }

// MaxGap returns the largest gap between adjacent sorted values of ln v.
func MaxGap(v []float64) float64 { panic("not built") }
