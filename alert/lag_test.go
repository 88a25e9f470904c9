package alert_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// Another server may read from a replica that does not know yet of what was written just now.
func TestWhatWasAddedJustNowIsEndedThoughAReplicaLagsBehind(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		late := alert.NewStore(w.connect("late"))
		silence := &alerting.Silence{ID: "one", By: "ann", Until: time.Now().Add(time.Hour)}
		if err := w.book.AddSilence(ctx, silence); err != nil {
			w.t.Fatal(err)
		}
		w.broker.Lag("late")
		if err := late.EndSilence(ctx, silence.ID); err != nil {
			w.t.Errorf("the silence is not ended: %v", err)
		}
		if _, err := late.SetSecret(ctx, w.master, "hook", "secret", "s3cret", cluster.Edit{At: time.Now()}); err != nil {
			w.t.Errorf("the channel gets no secret: %v", err)
		}
	})
}
