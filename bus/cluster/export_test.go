package cluster

import (
	"context"

	"github.com/carillon-scheduler/carillon/bus"
)

// CheckGiven is what [Overridden.Put] asks first, with another share.
func (c *Conn) CheckGiven(ctx context.Context, share bus.Share, group string) error {
	return c.given.check(ctx, c, share, group)
}
