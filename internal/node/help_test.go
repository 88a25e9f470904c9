package node

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

func TestHelpShowsFewFlagsAndHelpAllEach(t *testing.T) {
	for _, cmd := range running() {
		help := func(flag string) string {
			var out, stderr bytes.Buffer
			line := append(strings.Fields(cmd.CommandPath()), flag)
			if code := cli.Execute(t.Context(), cli.NewRoot(Commands()...), withParent(line), nil, &out, &stderr); code != 0 {
				t.Fatalf("%v ended with %d: %s", line, code, &stderr)
			}
			return out.String()
		}
		short, long := help("--help"), help("--"+helpAllFlag)
		if n := strings.Count(short, "\n      --") + strings.Count(short, "\n  -"); n > 16 {
			t.Errorf("%s --help shows %d flags", cmd.Name(), n)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(long, "--"+f.Name+" ") {
				t.Errorf("%s --help-all does not show --%s", cmd.Name(), f.Name)
			}
		})
	}
}

// withParent returns the arguments for a command that was made without its parent.
func withParent(line []string) []string {
	if line[0] == "xxl-job" {
		return append([]string{"bridge"}, line...)
	}
	return line
}
