package operator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAGroupsKeyFollowsFromTheMasterKey(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		code, out, errOut := clitest.Offline(t, "", args...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		return out
	}
	file := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(file, []byte(run("secret", "keygen")), 0o600); err != nil {
		t.Fatal(err)
	}
	key := run("secret", "key", "-g", "billing", "--master-key", file)
	if !strings.HasPrefix(key, "carillon-group-1.billing.") || key != run("secret", "key", "-g", "billing", "--master-key", file) {
		t.Errorf("the key is %q", key)
	}
}

func TestAGroupsKeyWithoutAMasterKeyNamesTheFlag(t *testing.T) {
	code, _, errOut := clitest.Offline(t, "", "secret", "key", "-g", "billing")
	if code != cli.ExitUsage || !strings.Contains(errOut, "name the file of the master key with --master-key, or set CARILLON_MASTER_KEY") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}
