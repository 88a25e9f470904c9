package callout_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// A program needs no more than the settings of the command, and the file that
// "carillon credential create" writes.
func TestAProgramConnectsWithTheSettingsOfTheCommand(t *testing.T) {
	w := newWorld(t)
	w.serve()
	w.check(w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "billing", HasRouted: true}))
	_, seed, err := w.users.Credentials().Create(t.Context(), "billing", "reports", "ann", 0)
	w.check(err)
	file := filepath.Join(t.TempDir(), "billing.seed")
	w.check(os.WriteFile(file, []byte(seed+"\n"), 0o600))
	t.Setenv("CARILLON_NATS", w.url)
	t.Setenv("CARILLON_GROUP", "billing")
	t.Setenv("CARILLON_CREDENTIAL_FILE", file)
	t.Setenv("CARILLON_INSTANCE", "r1")
	t.Setenv("CARILLON_LABEL", "zone=eu;disk=ssd")

	e, err := executor.Connect(t.Context(), executor.Options{})
	w.check(err)
	done := make(chan struct{})
	executor.Register(e, "wait", func(context.Context, *executor.Run, struct{}) (any, error) {
		close(done)
		return nil, nil
	})
	w.run(e.Run)
	w.trigger(job.NewRunID(time.Now()), "billing/wait")
	w.until("the run", done)
	beat, err := w.conn.Instances().Heartbeat(t.Context(), "billing", "r1")
	w.check(err)
	if beat.Labels["zone"] != "eu" || beat.Labels["disk"] != "ssd" || beat.Slots != 32 {
		t.Errorf("labels %v, %d slots", beat.Labels, beat.Slots)
	}
}
