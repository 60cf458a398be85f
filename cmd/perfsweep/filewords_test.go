package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/pflag"
)

// asked is a server that counts what it is asked: nothing may be, where what a
// command was given is wrong.
func asked(t *testing.T) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		http.Error(w, "nothing is served here", http.StatusInternalServerError)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// inFolder is a folder with an overlay, a journal and a file that is neither.
func inFolder(t *testing.T) {
	t.Helper()
	content := map[string][]byte{"plain.txt": []byte("x\n")}
	for name, from := range map[string]string{"o.yaml": "gb300.yaml", "sweep.jsonl": "gb300.jsonl"} {
		var err error
		if content[name], err = os.ReadFile(filepath.Join("testdata", "report", from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	for name, b := range content {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
}

// A file that is not there is said to be, by its name, with what to do.
func TestMissingFiles(t *testing.T) {
	inFolder(t)
	url, requests := asked(t)
	target := "--target " + url + " --gpus 1 "
	missing := func(args, file, want string) {
		if said := told(t, strings.Fields(args)...); !strings.Contains(said, want) || !strings.Contains(said, file) {
			t.Errorf("%s: %s, want %q", args, said, want)
		}
	}
	base := map[string]string{"sweep": target, "calibrate": "--overlay o.yaml --journal j.jsonl " + target, "check": "--overlay o.yaml --journal j.jsonl " + target,
		"report": "sweep.jsonl", "lint": "o.yaml", "verify": "b.bundle", "status": ".", "discover": ""}
	with := map[string]string{"cert-file": "--key-file plain.txt", "key-file": "--cert-file plain.txt", "approve": "--by me --why so", "sign-key": "--bundle b", "deploy-file": "--deploy --model m"}
	tried := 0
	for _, c := range whole(t) {
		if showsConfig(c) || c.Name() == "profile" {
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(strings.Fields(fileFlags), f.Name) || writes(c, f.Name) || f.Name == "approvals" {
				return
			}
			tried++
			args := strings.Join(pathOf(c), " ") + " " + base[c.Name()] + " " + with[f.Name]
			switch f.Name {
			case "overlay":
				args = strings.Replace(args, "--overlay o.yaml", "", 1)
			case "from":
				args = "calibrate --overlay o.yaml"
			case "replay":
				args = "check"
			case "approve":
				args = "calibrate --overlay o.yaml " + with[f.Name]
			case "ca-file", "cert-file", "key-file":
				args = strings.Replace(args, "http://", "https://", 1)
			case "kubeconfig", "deploy-file":
				args = strings.Replace(args, url, "k8s:n/m", 1)
			case "sidecar":
				args = strings.Replace(args, "sweep.jsonl", "sweep.jsonl --overlay o.yaml", 1)
			}
			missing(args+" --"+f.Name+"=none.jsonl", "none.jsonl", "there is no ")
		})
	}
	if tried < 25 {
		t.Errorf("only %d flags were tried", tried)
	}
	for _, args := range []string{
		"knee none.csv", "lint none.csv", "report none.csv", "verify none.csv", "compare none.csv none.csv", "compare sweep.jsonl none.csv",
		"recipes status none.csv", "recipes verify none.csv", "calibrate --overlay none.csv --target " + url + " --gpus 1", "check --overlay none.csv --journal sweep.jsonl",
		"calibrate --overlay o.yaml --from none.csv", "sweep --journal none.csv", "calibrate --overlay o.yaml --journal none.csv",
		"check --config none.csv --name x", "lint --resolved none.csv",
	} {
		missing(args, "none.csv", "there is no ")
	}
	missing("knee swep.jsonl", "swep.jsonl", "there is no file swep.jsonl, did you mean sweep.jsonl?; name one that is there")
	missing("knee nowhere/sweep.jsonl", "nowhere/sweep.jsonl", "there is no folder nowhere; look for a typing mistake in nowhere/sweep.jsonl")
	missing("lint plain.txt/o.yaml", "plain.txt", "a part of plain.txt/o.yaml is a file, not a folder")
	missing("lint folder", "folder", "is a folder")
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests were sent all the same", n)
	}
}

// What cannot be written is said before anything is measured: an hour of measuring
// must not end there.
func TestUnwritableOutputs(t *testing.T) {
	inFolder(t)
	url, requests := asked(t)
	target := " --target " + url + " --gpus 1 "
	base := map[string]string{"sweep": target, "calibrate": "--overlay o.yaml --write" + target, "check": "--overlay o.yaml" + target, "report": "sweep.jsonl"}
	tried := 0
	for _, c := range whole(t) {
		if showsConfig(c) {
			continue
		}
		for _, flag := range writtenBy()[c.Name()] {
			ending := map[string]string{"output": ".html"}[flag]
			if err := os.MkdirAll("folder"+ending, 0o755); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{
				filepath.Join("nowhere", "x"+ending): "there is no folder nowhere", "folder" + ending: "is a folder",
				filepath.Join("plain.txt", "x"+ending): "not a folder",
			} {
				tried++
				args := append(strings.Fields(c.CommandPath() + " " + base[c.Name()])[1:], "--"+flag+"="+path)
				if flag == "bundle" {
					args = append(args, "--journal", "new.jsonl")
				}
				code := exitWorld // the disk; a name that no file could have is the user's
				if path == "folder"+ending {
					code = exitInput
				}
				if said := toldWith(t, code, args...); !strings.Contains(said, want) || !strings.Contains(said, path) {
					t.Errorf("%q: %s, want %q", args, said, want)
				}
			}
		}
	}
	if n := requests.Load(); tried < 30 || n > 0 {
		t.Errorf("%d requests were sent all the same, in %d commands", n, tried)
	}
	if _, err := os.Stat("nowhere"); err == nil {
		t.Error("a folder was made")
	}
	// A folder of results or of candidates is made where it can be.
	b, err := os.ReadFile("o.yaml")
	if err == nil {
		err = os.MkdirAll(filepath.Join("tree", "overlays"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("tree", "overlays", "o.yaml"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"profile --model m --osl 8 --url " + url + " --output-artifact-dir plain.txt/out":                               "plain.txt",
		"calibrate --overlay tree/overlays/o.yaml --data d --sidecar nowhere/s.json --write --allow-simulated" + target: "there is no folder nowhere",
	} {
		var said strings.Builder
		if code := run(t.Context(), strings.Fields(args), nil, &said, &said); code == exitDone || !strings.Contains(said.String(), want) || requests.Load() > 0 {
			t.Errorf("%s: %d, %s", args, code, &said)
		}
	}
}
