package bus

import (
	"context"
	"fmt"
	"time"
)

// ServerTime returns the time by the clock of a server of NATS: the one that leads TRIG. It
// is that of when the server answered. The error is job.ErrUnavailable.
func (c *Conn) ServerTime(ctx context.Context) (time.Time, error) {
	stream, err := c.JS.Stream(ctx, StreamTrig)
	if err != nil {
		return time.Time{}, fmt.Errorf("look at the clock of NATS: %w", Unavailable(err))
	}
	return stream.CachedInfo().TimeStamp.UTC(), nil
}
