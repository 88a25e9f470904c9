package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
)

// JSON would keep such a value with other characters.
func TestASecretThatIsNotUTF8IsRefused(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.SetIn(strings.NewReader("caf\xe9\n"))
	if value, err := cli.ReadSecret(cmd, "-"); err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
		t.Errorf("read as %q: %v", value, err)
	}
	cmd.SetIn(strings.NewReader("café\n"))
	if value, err := cli.ReadSecret(cmd, "-"); err != nil || value != "café" {
		t.Errorf("read as %q: %v", value, err)
	}
}
