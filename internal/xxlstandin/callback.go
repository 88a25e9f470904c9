package xxlstandin

import (
	"context"
	"time"
)

// end is how a run ended, on its way to an admin.
type end struct {
	logID       int64
	logDateTime int64
	code        int
	message     string
}

// mostEnds bounds the ends in one callback.
const mostEnds = 50

// callBack sends what has ended, as much at once as there is. What no admin takes is sent again later,
// and what comes meanwhile is tried at once.
func (e *Executor) callBack(ctx context.Context) error {
	var refused []end
	retry := time.NewTicker(e.cfg.RepeatEvery)
	defer retry.Stop()
	for {
		var batch []end
		select {
		case c := <-e.ends:
			batch = append(batch, c)
			for more := true; more && len(batch) < mostEnds; {
				select {
				case c := <-e.ends:
					batch = append(batch, c)
				default:
					more = false
				}
			}
		case <-retry.C:
			n := min(mostEnds, len(refused))
			batch, refused = refused[:n:n], refused[n:]
		case <-ctx.Done():
			return nil
		}
		if len(batch) == 0 {
			continue
		}
		if err := e.tell(ctx, "callback", e.cfg.callbacks(batch)); err != nil {
			e.log.WarnContext(ctx, "callback refused", "ends", len(batch), "error", err)
			refused = append(refused, batch...)
		}
	}
}
