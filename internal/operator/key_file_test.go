package operator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAKeyIsWrittenToANewFileOfItsOwner(t *testing.T) {
	dir := t.TempDir()
	master := filepath.Join(dir, "master.key")
	f := func(file string, args ...string) {
		t.Helper()
		args = append(args, "--file", file)
		if code, out, errOut := clitest.Offline(t, "", args...); code != 0 || out != "" {
			t.Fatalf("%v: exit code %d, printed %q: %s", args, code, out, errOut)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
			t.Fatalf("%v: %v, %v", args, info, err)
		}
		before, _ := os.ReadFile(file)
		if code, _, _ := clitest.Offline(t, "", args...); code == 0 {
			t.Errorf("%v: overwrites a file", args)
		}
		if after, _ := os.ReadFile(file); string(after) != string(before) {
			t.Errorf("%v: changed a file", args)
		}
	}
	f(master, "secret", "keygen")
	f(filepath.Join(dir, "billing.key"), "secret", "key", "-g", "billing", "--master-key", master)
	f(filepath.Join(dir, "nats.keys"), "nats", "keygen")
	f(filepath.Join(dir, "operator.nk"), "nats", "keygen", "--operator")
}
