package operator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
