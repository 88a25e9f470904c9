package cluster

import (
	"context"

	"github.com/carillon-scheduler/carillon/bus"
)

// CheckOverrides is what [Overridden.Put] asks first, with another share.
func (c *Conn) CheckOverrides(ctx context.Context, share bus.Share, group string) error {
	return c.Overrides().check(ctx, share, group)
}

// CheckKeys is [RunKeys.CheckRoom] with another share.
func (c *Conn) CheckKeys(ctx context.Context, share bus.Share, group string) error {
	return RunKeysOf(c).check(ctx, share, group)
}
