package live

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// AIPerfVersion is the one that is installed and compared with.
const AIPerfVersion = "0.13.0"

// AIPerf installs AIPerf and a tokenizer by test/aiperf.sh, which lies below the
// project's root, where they are missing, and says where they are.
func AIPerf(ctx context.Context, script string, talk io.Writer) (program, tokenizer string, err error) {
	cmd := exec.CommandContext(ctx, "bash", script, AIPerfVersion)
	cmd.Stderr = talk
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("%s, which installs AIPerf: %w", script, err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = value
	}
	if said["AIPERF"] == "" || said["TOKENIZER"] == "" {
		return "", "", fmt.Errorf("%s printed no AIPERF and TOKENIZER but %q", script, out)
	}
	return said["AIPERF"], said["TOKENIZER"], nil
}
