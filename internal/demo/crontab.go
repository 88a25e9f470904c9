package demo

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
)

// pingEvery is how often the crontab elsewhere runs: as often as its job fires.
const pingEvery = 5 * time.Second

// crontab does the runs of the watched job as another machine would, and reports them, until silence is called. A ping that
// no server takes is lost, as one of a crontab is.
func (s *Show) crontab(ctx context.Context) (silence func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			due := time.NewTimer(time.Until(time.Now().Truncate(pingEvery).Add(pingEvery)))
			select {
			case <-ctx.Done():
				due.Stop()
				return
			case <-due.C:
			}
			_, _ = client.Read[client.PingAccepted](s.API.PingJob(ctx, "default", "crontab", client.PingRequest{Host: "elsewhere", Output: "done\n"}))
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
