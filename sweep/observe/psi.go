package observe

import (
	"bytes"
	"strconv"
)

// stalledSeconds reads the total of the line "some" in the kernel's pressure
// files (Documentation/accounting/psi.rst): microseconds in which some task
// waited, since the machine started.
func stalledSeconds(text []byte) (float64, bool) {
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || string(fields[0]) != "some" {
			continue
		}
		for _, f := range fields[1:] {
			if total, ok := bytes.CutPrefix(f, []byte("total=")); ok {
				us, err := strconv.ParseUint(string(total), 10, 64)
				return float64(us) / 1e6, err == nil
			}
		}
	}
	return 0, false
}
