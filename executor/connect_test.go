package executor_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAWrongSettingIsNamed(t *testing.T) {
	for _, c := range []struct{ variable, value, want string }{
		{"CARILLON_SLOTS", "many", "CARILLON_SLOTS"},
		{"CARILLON_GRACE", "30", "CARILLON_GRACE"},
		{"CARILLON_LABEL", "zone", "CARILLON_LABEL"},
		{"CARILLON_GROUP", "", "CARILLON_GROUP"},
		{"CARILLON_CREDENTIAL_FILE", "/nowhere", "/nowhere"},
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
