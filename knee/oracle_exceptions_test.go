package knee_test

// oracleExceptions names the recorded curves on which Find and the reference
// implementation differ, and why. The truth column is the tilted argmax of the
// noise-free curve.
var oracleExceptions = map[string]string{
	"V-014":   byStep,  // truth 84.1: Find 110.9, reference 78.4
	"Z-063":   byRidge, // truth 113.2: 83.0, 90.5
	"log-083": byLevel, // truth 67.2: 64, ambiguous at 128
	"C-088":   byStep,  // truth 186.9: not saturated by 192, 156.8
	"Y-098":   byStep,  // truth 115.8: 152.2, 110.9
	"log-185": byRidge, // truth 203.2: 362.0, 304.4
	"Z-233":   byRidge, // truth 139.8: 148.1, 135.8
	"V-235":   byStep,  // truth 57.5: 78.4, 55.4
}
