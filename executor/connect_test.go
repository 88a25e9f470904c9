package executor_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAWrongSettingIsNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ variable, value, want string }{
		{"CARILLON_SLOTS", "many", "CARILLON_SLOTS"},
		{"CARILLON_GRACE", "30", "CARILLON_GRACE"},
		{"CARILLON_LABEL", "zone", "CARILLON_LABEL"},
		{"CARILLON_GROUP", "", "CARILLON_GROUP"},
		{"CARILLON_CREDENTIAL_FILE", "/nowhere", "CARILLON_CREDENTIAL_FILE \"/nowhere\" cannot be read"},
		{"CARILLON_CREDENTIAL_FILE", empty, "is empty: it must have a key"},
		{"CARILLON_SECRET_KEY_FILE", "/nowhere", "CARILLON_SECRET_KEY_FILE \"/nowhere\" cannot be read"},
		{"CARILLON_SECRET_KEY_FILE", empty, "is empty: it must have a key"},
		{"CARILLON_CREDENTIAL", "nonsense", "credential"},
		{"CARILLON_SECRET_KEY", "nonsense", "secret_key"},
	} {
		t.Run(c.variable, func(t *testing.T) {
			t.Setenv("CARILLON_GROUP", "billing")
			t.Setenv("CARILLON_NATS", "nats://127.0.0.1:1")
			t.Setenv(c.variable, c.value)
			_, err := executor.Connect(t.Context(), executor.Options{})
			var invalid *job.InvalidError
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &invalid) && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%v, want one that names %s", err, c.want)
			}
		})
	}
}
