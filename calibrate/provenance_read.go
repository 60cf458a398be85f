package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// ParseProvenance reads a sidecar. It is strict, because a key that is missing,
// unknown or contradicts another one is a file that somebody edited: its errors
// name file and key.
func ParseProvenance(name string, b []byte) (Provenance, error) {
	var p Provenance
	fail := func(err error) (Provenance, error) {
		return Provenance{}, fmt.Errorf("%s: not a sidecar of provenance: %w; calibrate again, or restore the file", name, loadgen.PlainJSON(err))
	}
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return fail(err)
	}
	switch {
	case head.SchemaVersion == nil:
		return fail(&keyError{"schema_version", "is missing"})
	case *head.SchemaVersion != ProvenanceSchema:
		return fail(badKey("schema_version", "is %d, this perfsweep reads %d", *head.SchemaVersion, ProvenanceSchema))
	}
	if err := matchKeys("", b, reflect.TypeFor[Provenance]()); err != nil {
		return fail(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fail(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fail(errors.New("there is more after it"))
	}
	if err := p.valid(); err != nil {
		return fail(err)
	}
	return p, nil
}

// LooksLikeProvenance reports whether a file was a sidecar once, however damaged
// it is now: it shows keys that no other format has together. An empty one holds
// nothing that could be lost.
func LooksLikeProvenance(b []byte) bool {
	shows := func(key string) bool { return bytes.Contains(b, []byte(`"`+key+`"`)) }
	return len(bytes.TrimSpace(b)) == 0 || shows("schema_version") && shows("tool_version") && shows("campaign_started") ||
		shows("overlay_sha256") && shows("gate_sha256") || shows("written_gate") && shows("baseline_runs")
}

// keyError is what is wrong with a key of a sidecar.
type keyError struct{ key, says string }

func (e *keyError) Error() string { return e.key + " " + e.says }

func badKey(key, format string, args ...any) error {
	return &keyError{key, fmt.Sprintf(format, args...)}
}

// placeOf finds, from 1, where a sidecar is wrong: the place that the JSON
// reader names, else the key or the one that should hold it.
func placeOf(b []byte, err error) (line, col int) {
	at := 0
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var key *keyError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
	case errors.As(err, &key):
		path := strings.FieldsFunc(key.key, func(r rune) bool { return strings.ContainsRune(`."[]`, r) })
		for _, name := range slices.Backward(path) {
			if at = bytes.Index(b, []byte(`"`+name+`":`)); at >= 0 {
				break
			}
		}
	}
	before := b[:max(0, min(at, len(b)))]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])
}

// matchKeys compares the keys of an object with the fields of a type, in their
// exact spelling, which encoding/json does not demand.
func matchKeys(at string, b []byte, t reflect.Type) error {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		var items []json.RawMessage
		if err := json.Unmarshal(b, &items); err != nil {
			return badKey(at, "is wrong: %v", loadgen.PlainJSON(err))
		}
		for i, item := range items {
			if err := matchKeys(fmt.Sprintf("%s[%d]", at, i), item, t.Elem()); err != nil {
				return err
			}
		}
		return nil
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(b, &got); err != nil {
		return badKey(at, "is wrong: %v", loadgen.PlainJSON(err)) // its offset would be that in a part
	}
	if at != "" {
		at += "."
	}
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if !t.Field(i).IsExported() || key == "-" {
			continue
		}
		raw, there := got[key]
		delete(got, key)
		switch {
		case there && !bytes.Equal(raw, []byte("null")):
			if err := matchKeys(at+key, raw, t.Field(i).Type); err != nil {
				return err
			}
		case there:
			return &keyError{at + key, "is null"}
		case !strings.Contains(options, "omit"):
			return &keyError{at + key, "is missing"}
		}
	}
	if len(got) > 0 {
		return badKey(fmt.Sprintf("%s%.80q", at, slices.Min(slices.Collect(maps.Keys(got)))), "is not known")
	}
	return nil
}

// valid reports the first key that contradicts the schema or another key.
func (p Provenance) valid() error {
	for _, h := range []struct{ key, value, want string }{
		{"overlay_sha256", p.OverlaySHA256, ""},
		{"replaced_overlay_sha256", p.ReplacedOverlaySHA256, ""},
		{"gate_sha256", p.GateSHA256, GateHash(p.Gate)},
		{"fingerprint_sha256", p.FingerprintSHA256, FingerprintHash(p.Fingerprint)},
	} {
		switch {
		case !isSHA256(h.value):
			return badKey(h.key, "%.80q is no SHA-256", h.value)
		case h.want != "" && h.value != h.want:
			return &keyError{h.key, "is not that of what it stands for: the file was edited"}
		}
	}
	for _, d := range []struct{ key, value string }{{"campaign_started", p.CampaignStarted}, {"measured", p.Measured}, {"written", p.Written}} {
		if _, err := time.Parse(time.RFC3339, d.value); d.value != "" && err != nil {
			return badKey(d.key, "%.80q is no date", d.value)
		}
	}
	switch {
	case p.Outcome != OutcomeOK && p.Outcome != OutcomeSimulated:
		return badKey("outcome", "%.80q is none that is written", p.Outcome)
	case p.FloorForm != PerGPU && p.FloorForm != Absolute:
		return badKey("floor_form", "%.80q is not known", p.FloorForm)
	case p.FloorProfile != Portable && p.FloorProfile != Regression:
		return badKey("floor_profile", "%.80q is not known", p.FloorProfile)
	case p.RunKind != string(loadgen.Gate) || p.Estimator != wholeRun:
		return badKey("run_kind", "%.80q and estimator %.80q are not those of a gate", p.RunKind, p.Estimator)
	case !(p.Tolerance > 0 && p.Tolerance < 1):
		return badKey("evaluator_tolerance_ratio", "%v is not between 0 and 1", p.Tolerance)
	case !(p.Knee.NoiseSD >= 0 && p.Knee.NoiseSD <= 10) || p.Knee.NoiseDF < 0:
		return badKey("knee.noise_log_sd", "%v on %s of freedom is none", p.Knee.NoiseSD, plural.Of(p.Knee.NoiseDF, "degree"))
	case p.Gate.Empty() || p.Gate.ConcurrencyPerGPU < 1:
		return &keyError{"written_gate", "demands nothing, or pins no concurrency"}
	case p.Fingerprint.GPUs < 1:
		return badKey("fingerprint.gpus", "is %d", p.Fingerprint.GPUs)
	case len(p.BaselineRuns) < minRunsToWrite:
		return badKey("baseline_runs", "has %s, a gate rests on %d at least", plural.Of(len(p.BaselineRuns), "run"), minRunsToWrite)
	}
	for i, r := range p.BaselineRuns {
		if r.ConcurrencyPerGPU != p.Gate.ConcurrencyPerGPU || !positive(r.TokPerSecPerGPU) || !positive(r.TTFTP50MS) || !positive(r.TTFTP99MS) {
			return badKey(fmt.Sprintf("baseline_runs[%d]", i), "is no gate run at %d per GPU", p.Gate.ConcurrencyPerGPU)
		}
	}
	if err := p.validReconfirmed(); err != nil {
		return err
	}
	if err := p.clusters(); err != nil {
		return err
	}
	if err := p.validBridge(); err != nil {
		return err
	}
	return p.numbers()
}

// clusters holds the clusters of a sidecar against the rest of it.
func (p Provenance) clusters() error {
	if len(p.Clusters) == 0 {
		return nil
	}
	runs, own := 0, false
	for i, c := range p.Clusters {
		key := fmt.Sprintf("clusters[%d]", i)
		switch {
		case strings.TrimSpace(c.Cluster) == "":
			return badKey(key+".cluster", "is empty")
		case slices.ContainsFunc(p.Clusters[:i], func(o ClusterRecord) bool { return strings.EqualFold(o.Cluster, c.Cluster) }):
			return badKey(key+".cluster", "%.80q is there twice", c.Cluster)
		case c.Runs < 1 || !positive(c.TokPerSecPerGPU) || !positive(c.TTFTP99MS):
			return badKey(key, "has no gate run that was read")
		case !isSHA256(c.Journal.SHA256):
			return badKey(key+".journal.sha256", "%.80q is no SHA-256", c.Journal.SHA256)
		}
		runs, own = runs+c.Runs, own || c.Journal.SHA256 == p.Journal.SHA256
	}
	switch {
	case len(p.Clusters) < 2:
		return badKey("clusters", "has one, which is what journal says")
	case runs != len(p.BaselineRuns):
		return badKey("clusters", "have %s, baseline_runs has %d", plural.Of(runs, "run"), len(p.BaselineRuns))
	case !own:
		return badKey("clusters", "do not have the journal %.80q", p.Journal.Name)
	}
	return nil
}
