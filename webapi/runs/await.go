package runs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

const (
	// maxWait is how long a request may wait for the end of its run: a little less than for what requests may take.
	maxWait = 25 * time.Second
	// waitPoll is how often the history is asked.
	waitPoll = 200 * time.Millisecond
)

// ParseWait reads how long a request waits for the end of its run; "" is not at all. The error is an *InvalidError.
func ParseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := job.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, job.Invalid("wait", "%.20q must be a duration from 0s to %s", text, job.Duration(maxWait))
	}
	return d, nil
}

// Await waits until a run has ended that was accepted, and has it tell how, or for so long. A caller of whom too
// many requests wait gets the run as it is: it was accepted.
func (rs *Runs) Await(ctx context.Context, a *api.RunAccepted, long time.Duration) {
	if long <= 0 || a.Status.Final() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	slot, err := access.Of(ctx).Wait(limited)
	if err != nil {
		return
	}
	defer slot.Release()
	look := time.NewTicker(waitPoll)
	defer look.Stop()
	for !a.Status.Final() {
		select {
		case <-look.C:
		case <-limited.Done():
			return
		}
		if now, found, err := rs.acceptedBefore(limited, a.RunID); err == nil && found {
			a.Status, a.Reason = now.Status, now.Reason
		}
	}
}
