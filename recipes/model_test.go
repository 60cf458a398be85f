package recipes

import "testing"

func TestValidModel(t *testing.T) {
	for _, m := range []string{"Qwen/Qwen3-8B", "tiny", "a.b_c-d/e"} {
		if err := ValidModel(m); err != nil {
			t.Errorf("%q: %v", m, err)
		}
	}
	for _, m := range []string{"", " ", "m\": {a: b} # x", "-x", "a b", "a\nb", "\u202ex"} {
		if ValidModel(m) == nil {
			t.Errorf("%q must not reach an overlay", m)
		}
	}
}
