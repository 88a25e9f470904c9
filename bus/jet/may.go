package jet

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
)

// MayPublish reports whether the credential may publish on a subject. It publishes an empty message there,
// which subscribers must ignore. It returns true while NATS does not answer. Call it before others use the
// connection: a refusal of theirs may hide that of the message.
func (c *Conn) MayPublish(ctx context.Context, subject string) bool {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.wait, BatchTimeout))
	defer cancel()
	if c.NC.Publish(subject, nil) != nil || c.NC.FlushWithContext(ctx) != nil {
		return true
	}
	err := c.NC.LastError() // NATS sends the refusal before its answer to the flush
	return !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+subject+`"`)
}
