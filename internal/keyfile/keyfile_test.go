package keyfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAKeyOnAnInheritedDescriptorIsReadOnceAndTheDescriptorClosed(t *testing.T) {
	read := func(text string) (string, error) {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := readInherited(r)
		if _, again := r.Stat(); !errors.Is(again, os.ErrClosed) {
			t.Errorf("the descriptor is open: %v", again)
		}
		return got, err
	}
	if got, err := read("seed\n"); got != "seed\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read(" \n"); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("an empty one: %v", err)
	}
	for name, want := range map[string]bool{"-": true, "billing.seed": false, "fd:": false, "fd:x": false, "fd:-1": false} {
		if got := descriptorOf(name) != nil; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestAKeyFileThatIsEmptyOrNotThereIsRefusedByItsName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "billing.key")
	if _, err := Read(file, SecretKeyVariable); err == nil || !strings.HasPrefix(err.Error(), "read secret key: open "+file) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := Read(file, SecretKeyVariable); key != "" || err == nil || err.Error() != "read secret key: file "+file+" is empty" {
		t.Errorf("%q, %v", key, err)
	}
}
