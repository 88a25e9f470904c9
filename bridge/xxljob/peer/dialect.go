package peer

import (
	"context"
	"errors"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
)

// Dialect finds out which dialect an executor speaks, without starting anything there: a request for a
// run that is no JSON is refused, but for another reason than one to a path that does not exist.
func (c *Client) Dialect(ctx context.Context, t Target) (wire.Dialect, error) {
	d, err := c.Beat(ctx, t)
	if err != nil {
		return "", err
	}
	path := wire.DialectC.RunPath()
	err = c.do(ctx, t, path, []byte("?"))
	if refused := (*Refusal)(nil); errors.As(err, &refused) && !unknownPath(err, path) {
		return wire.DialectC, nil
	}
	return d, nil // what is no refusal comes from a path that its server does not know
}
