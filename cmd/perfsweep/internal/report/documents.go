package report

import (
	"reflect"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
)

// Documents are the types of what -o json prints, by what they answer, for the
// schemas that are published.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{
		"knee":           reflect.TypeFor[curveDoc](),
		"calibrate":      reflect.TypeFor[calibrationDoc](),
		"reconfirm":      reflect.TypeFor[reconfirmDoc](),
		"check":          reflect.TypeFor[checkDoc](),
		"compare":        reflect.TypeFor[compareDoc](),
		"lint":           reflect.TypeFor[lintDoc](),
		"recipes-status": reflect.TypeFor[statusDoc](),
		"recipes-verify": reflect.TypeFor[verifiedOverlaysDoc](),
		"discover":       reflect.TypeFor[discoveryDoc](),
		"plan":           reflect.TypeFor[planDoc](),
		"selftest":       reflect.TypeFor[selftest.Result](),
		"selftest-point": reflect.TypeFor[pointDoc](),
		"config":         reflect.TypeFor[configDoc](),
		"verify":         reflect.TypeFor[verifyDoc](),
		"verify-several": reflect.TypeFor[verifySeveralDoc](),
		"approval":       reflect.TypeFor[approvalDoc](),
		"replay":         reflect.TypeFor[replayDoc](),
	}
}
