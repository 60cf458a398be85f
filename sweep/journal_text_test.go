package sweep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Names of a campaign are plain text, when they are written and when they are
// read: one that was edited into a journal is damage.
func TestPlainHeader(t *testing.T) {
	for _, bad := range []string{"a\x1b[31mb", "a\nb", "a\tb", "a\x7fb", "a\u0085b", "a\u202eb", "a\u2028b"} {
		for at, bend := range map[string]func(*Curve){
			"fingerprint.labels.image":     func(c *Curve) { c.Fingerprint.Labels = map[string]string{"image": bad} },
			"fingerprint.model":            func(c *Curve) { c.Fingerprint.Model = bad },
			"fingerprint.target":           func(c *Curve) { c.Fingerprint.Target = "http://" + bad },
			"fingerprint.workload.file":    func(c *Curve) { c.Fingerprint.Workload.File = bad },
			"fingerprint.extra_headers[1]": func(c *Curve) { c.Fingerprint.ExtraHeaders = []string{"X", bad} },
			"fingerprint.extra_body.x": func(c *Curve) {
				c.Fingerprint.ExtraBody = map[string]json.RawMessage{"x": json.RawMessage(`"a` + "\u202e" + `b"`)}
			},
			"fingerprint.labels." + bad: func(c *Curve) { c.Fingerprint.Labels = map[string]string{bad: "x"} },
			"id":                        func(c *Curve) { c.ID = bad },
			"fingerprint.deployment_id": func(c *Curve) { c.Fingerprint.Deployment = bad },
		} {
			c := head()
			bend(&c)
			path := filepath.Join(t.TempDir(), "j.jsonl")
			want := at[:min(len(at), 18)]
			if _, err := CreateJournal(path, c); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "control character") {
				t.Errorf("%s, %q: written: %v", at, bad, err)
			}
			if b, err := os.ReadFile(path); err != nil || len(b) > 0 {
				t.Errorf("%s: %d bytes were written, %v", at, len(b), err)
			}
			line, err := json.Marshal(headerLine{Type: lineCampaign, SchemaVersion: SchemaVersion, Fingerprint: c.Fingerprint, Plan: c.Plan, ID: c.ID})
			if err == nil {
				err = os.WriteFile(path, append(line, '\n'), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ReadJournal(path); err == nil || !strings.Contains(err.Error(), path+":1: damaged header: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: read: %v", at, bad, err)
			}
		}
	}
}

// filled gives every text below v a hostile value, so that a field that is added
// is one as well; it counts them.
func filled(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a\x1b[31m\n" + v.String())
		return 1
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return filled(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += filled(v.Field(i))
			}
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Uint8 {
			return 0
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		return filled(v.Index(0)) + filled(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		n = filled(value)
		v.SetMapIndex(reflect.ValueOf("k\x1b").Convert(v.Type().Key()), value)
		return n + 1
	}
	return n
}

// found counts the texts below v that are not plain.
func found(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		if !PlainText(v.String()) {
			n = 1
		}
	case reflect.Pointer:
		n = found(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += found(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += found(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			n += found(k) + found(v.MapIndex(k))
		}
	}
	return n
}

// Whatever text a run or a preflight holds, no control character of it is read.
func TestCleaned(t *testing.T) {
	for _, of := range []any{&Run{}, &loadgen.Preflight{}} {
		v := reflect.ValueOf(of).Elem()
		n := filled(v)
		if n < 5 || found(v) != n {
			t.Fatalf("%T: %d texts, %d of them hostile", of, n, found(v))
		}
		cleaned(v)
		if got := found(v); got != 0 {
			t.Errorf("%T: %d of %d texts are not plain", of, got, n)
		}
	}
	c := recorded(2)
	c.Preflight.Models = []string{"a\x1b"}
	c.Runs[1].Workers.Before.Unread, c.Runs[1].Result.Errors = "no\rline", map[loadgen.Outcome][]string{loadgen.Timeout: {"x\x07"}}
	c.Runs[1].Deployment, c.Runs[0].Deployment = "d\u202e", "d\u202e"
	got := reread(t, c, ReadJournal)
	if s := got.Preflight.Models[0]; s != "a?" {
		t.Errorf("%q", s)
	}
	r := got.Runs[1]
	if u := r.Workers.Before.Unread; u != "no line" {
		t.Errorf("%q", u)
	}
	if e := r.Result.Errors[loadgen.Timeout][0]; e != "x?" {
		t.Errorf("%q", e)
	}
	if r.Deployment != "d?" {
		t.Errorf("%q", r.Deployment)
	}
}

// A run that begins before its campaign, or before the run that it follows, and
// one that lasts a day, are damage; clocks that lie a day apart and a journal that
// rests for years are not.
func TestJournalDates(t *testing.T) {
	begun := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, row := range []struct {
		name  string
		start time.Time // of the campaign
		runs  [2]time.Duration
		took  time.Duration
		want  string
	}{
		{"as measured", begun, [2]time.Duration{time.Minute, time.Hour}, time.Minute, ""},
		{"a clock a day behind", begun, [2]time.Duration{-day, time.Hour}, time.Minute, ""},
		{"a campaign of later", begun, [2]time.Duration{-day - time.Second, time.Hour}, time.Minute, ":2: run 1: it is dated 2026-11-29T11:59:59Z, and its campaign, which came before it, 2026-11-30T12:00:00Z"},
		{"a campaign of 2099", begun.AddDate(73, 0, 0), [2]time.Duration{time.Minute, time.Hour}, time.Minute, ":2: run 1: it is dated 2026-11-30T12:01:00Z, and its campaign"},
		{"resumed after years", begun, [2]time.Duration{time.Minute, 3000 * day}, time.Minute, ""},
		{"a day back", begun, [2]time.Duration{2 * day, day}, time.Minute, ""},
		{"more than a day back", begun, [2]time.Duration{2 * day, day - time.Second}, time.Minute, ":3: run 2: it is dated 2026-12-01T11:59:59Z, and run 1, which came before it, 2026-12-02T12:00:00Z"},
		{"no date of the campaign", time.Time{}, [2]time.Duration{-9000 * day, time.Hour}, time.Minute, ""},
		{"a day long", begun, [2]time.Duration{time.Minute, time.Hour}, day, ""},
		{"longer", begun, [2]time.Duration{time.Minute, time.Hour}, day + time.Minute, ":2: run 1: its result ended 24h1m0s after it started"},
	} {
		c := recorded(2)
		c.Started = row.start
		for i := range c.Runs {
			r := &c.Runs[i]
			r.Started = begun.Add(row.runs[i])
			r.Result.Started, r.Result.Ended = r.Started, r.Started.Add(row.took)
		}
		path := kept(t, c)
		if _, err := ReadJournal(path); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), path+row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
