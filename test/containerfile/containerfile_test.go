package containerfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

func ours(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "deploy", "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The container file makes the image that the manifests and AICR's Job need: a
// binary that the entry point and AICR's command name, certificates, a folder for
// temporary files, and a user that is not root.
func TestContainerfile(t *testing.T) {
	m, err := Parse(ours(t))
	if err != nil {
		t.Fatal(err)
	}
	if m.Files["/perfsweep"] != m.Binary || m.Files["/opt/venv/bin/python"] != m.Binary {
		t.Errorf("files %v, binary %s", m.Files, m.Binary)
	}
	// AICR's Job writes its files to /tmp/aiperf (aiperfArtifactDir of its validator).
	if m.Folders["/tmp"] != 0o777|fs.ModeSticky {
		t.Errorf("folders %v", m.Folders)
	}
	for _, f := range m.Context {
		if _, err := os.Stat(filepath.Join(root, f)); err != nil {
			t.Errorf("it copies %s, which is not there", f)
		}
	}
	for _, manifest := range []string{"job-check.yaml", "job-calibrate.yaml"} {
		raw, err := os.ReadFile(filepath.Join(root, "deploy", manifest))
		if err != nil || !strings.Contains(string(raw), "runAsUser: "+m.UID+"\n") {
			t.Errorf("%s does not run as %s, which the image does (%v)", manifest, m.UID, err)
		}
	}
}

// The image that builds has the Go that the module asks for.
func TestContainerfileGo(t *testing.T) {
	m, err := Parse(ours(t))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindSubmatch(mod)
	if want == nil || !strings.HasSuffix(m.Base, "/golang:"+string(want[1])) {
		t.Errorf("it builds with %s, go.mod says %q", m.Base, want)
	}
}

// Each mistake that would only show once the image is built, or run, is refused.
func TestContainerfileMistakes(t *testing.T) {
	text := ours(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"root":                      {"USER 65532:65532", "", "runs as root"},
		"root by number":            {"USER 65532:65532", "USER 0:0", "not root"},
		"a user's name":             {"USER 65532:65532", "USER nonroot", "must be numbers"},
		"an entry point elsewhere":  {`["/perfsweep"]`, `["/bin/perfsweep"]`, "is not the binary"},
		"an entry point by a shell": {`ENTRYPOINT ["/perfsweep"]`, "ENTRYPOINT /perfsweep", "a list in JSON"},
		"no certificates":           {"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt", "", "certificates"},
		"a copy of nothing":         {"COPY --from=build /perfsweep /perfsweep", "COPY --from=build /out/perfsweep /perfsweep", "nothing makes /out/perfsweep"},
		"a folder of nothing":       {"COPY --from=build /empty/ /", "COPY --from=build /nowhere/ /", "nothing is in /nowhere"},
		"another base":              {"FROM scratch", "FROM alpine", "then scratch"},
		"emulation":                 {"--platform=$BUILDPLATFORM ", "", "own platform"},
		"an unknown variable":       {"ARG TARGETOS TARGETARCH", "ARG TARGETOS", "declares TARGETARCH"},
		"no sources":                {"COPY . .", "", "sources are not copied"},
		"a command in the image":    {"USER 65532:65532", "RUN true\nUSER 65532:65532", "nothing to run with"},
		"another command":           {"RUN go mod download", "RUN apt-get update", "no command that is understood"},
		"cgo":                       {"CGO_ENABLED=0 ", "", "no command that is understood"},
		"another instruction":       {"USER 65532:65532", "VOLUME /x\nUSER 65532:65532", "VOLUME: is not understood"},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Errorf("%s: the file has no %q", name, c.old)
			continue
		}
		if _, err := Parse(changed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
