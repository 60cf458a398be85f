package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole number is what it looks like, wherever it is written.
func TestWholeNumbersAreDecimal(t *testing.T) {
	config := func(args ...string) (int, string, string) {
		var out, said bytes.Buffer
		code := run(t.Context(), append([]string{"config", "sweep", "--target", "http://127.0.0.1:1"}, args...), nil, &out, &said)
		return code, out.String(), said.String()
	}
	for _, c := range []struct{ flag, value string }{
		{"gpus", "010"}, {"gpus", "0x10"}, {"gpus", "0b1"}, {"gpus", "0o7"}, {"gpus", "1_0"}, {"gpus", "08"}, {"seed", "017"}, {"levels", "8,016"}, {"levels", "0x8"},
	} {
		args := []string{"--gpus", "8", "--" + c.flag, c.value}
		if code, out, said := config(args...); code != exitInput || out != "" || !strings.Contains(said, "whole number") {
			t.Errorf("--%s %s: exit code %d: %s%s", c.flag, c.value, code, said, out)
		}
		file := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(file, []byte("targets:\n  a:\n    "+c.flag+": ["+c.value+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.flag != "levels" {
			if err := os.WriteFile(file, []byte("targets:\n  a:\n    "+c.flag+": "+c.value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, out, said := config("--config", file); code != exitInput || out != "" || !strings.Contains(said, file+":3:5: ") {
			t.Errorf("%s: %s in a file: exit code %d: %s%s", c.flag, c.value, code, said, out)
		}
	}
	for _, c := range []struct{ flag, value string }{{"gpus", "10"}, {"gpus", "+10"}, {"seed", "0"}, {"levels", "8,16"}, {"levels", "8, 16"}} {
		if code, _, said := config("--gpus", "8", "--"+c.flag, c.value); code != exitDone && !strings.Contains(c.value, " ") {
			t.Errorf("--%s %s: exit code %d: %s", c.flag, c.value, code, said)
		}
	}
	if code := run(t.Context(), []string{"recipes", "status", "--max-age", "010", t.TempDir()}, nil, io.Discard, io.Discard); code != exitInput {
		t.Errorf("--max-age 010: exit code %d", code)
	}
}

// A variable's name is told; a key that was given in its place is not, nor is what a
// page wants behind its address.
func TestShownValuesHoldNoKey(t *testing.T) {
	const key = "sk-abc123DEF"
	for _, args := range [][]string{
		{"sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--api-key-env", key},
		{"config", "sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--api-key-env", key},
		{"config", "sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--api-key-env", key, "-o", "yaml"},
		{"config", "sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--metrics", "http://127.0.0.1:1/metrics?token=" + key},
		{"config", "sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--metrics", "http://127.0.0.1:1/metrics?token=" + key, "-o", "yaml"},
		{"config", "sweep", "--target", "user:" + key + "@h:1", "--gpus", "1"},
		{"config", "sweep", "--target", "http:/user:" + key + "@h:1", "--gpus", "1", "-o", "json"},
		{"config", "sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--body-field", `api_key="` + key + `"`},
		{"sweep", "--target", "http://127.0.0.1:1", "--gpus", "1", "--body-field", `API_KEY="` + key + `"`},
		{"config", "calibrate", "--target", "http://127.0.0.1:1", "--gpus", "1", "--overlay", "o.yaml", "--bridge", "aiperf=sh --api-key " + key},
	} {
		var out bytes.Buffer
		run(t.Context(), args, nil, &out, &out)
		if strings.Contains(out.String(), key) || out.Len() == 0 {
			t.Errorf("%q: %s", args, &out)
		}
	}
	t.Setenv("my_key", key)
	for name, want := range map[string]string{"OPENAI_API_KEY": "OPENAI_API_KEY", "my_key": "my_key", "hf_abcdef": notShown} {
		if got := shownVariable(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
