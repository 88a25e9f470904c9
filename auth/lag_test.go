package auth

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Another server may read from a replica that does not know yet of what was written just now.
func TestARecordIsReadAsTheLeaderHasItThoughAReplicaLagsBehind(t *testing.T) {
	inBubble(t, func(w *world) {
		late := w.run(w.connect("late"))
		time.Sleep(time.Second)
		w.broker.Lag("late")
		secret, _, err := w.d.InviteAdministrator(w.Context())
		w.check(err)
		if _, err := late.Invitation(w.Context(), secret); err != nil {
			w.Errorf("an invitation that was sent just now: %v", err)
		}
		if _, _, err := late.Accept(w.Context(), secret, "ann", password, Client{}); err != nil {
			w.Errorf("it was not accepted: %v", err)
		}
		for _, key := range []string{"*", ">", "", "a b", ".", "a..b"} {
			if _, _, err := w.d.users.table.records.Read(w.Context(), key); !errors.Is(err, job.ErrNotFound) {
				w.Errorf("the user at key %q: %v", key, err)
			}
		}
	})
}
