package peer

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
)

// Shape finds out whether an executor speaks dialect A or B, which differ in where the payload of an
// answer is, by asking for a log that there is not. It returns "" if the answer does not tell.
func (c *Client) Shape(ctx context.Context, t Target) wire.Dialect {
	l, err := c.Log(ctx, t, 0, time.Now(), 1)
	if err != nil {
		return ""
	}
	return l.Dialect
}

// Dialect finds out which dialect an executor speaks, without starting anything there: a request for a
// run that is no JSON is refused, but for another reason than one to a path that does not exist.
func (c *Client) Dialect(ctx context.Context, t Target) (wire.Dialect, error) {
	if err := c.Beat(ctx, t); err != nil {
		return "", err
	}
	path := wire.DialectC.RunPath()
	err := c.do(ctx, t, path, []byte("?"))
	if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Status == 0 && !unknownPath(err, path) {
		return wire.DialectC, nil
	}
	return c.Shape(ctx, t), nil // what is no refusal comes from a path that its server does not know
}
