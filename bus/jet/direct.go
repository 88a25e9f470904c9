package jet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// How often a direct read is repeated, because a replica that lags behind may not have
// what its leader has, or nobody answers.
const (
	directTries = 5
	directRest  = 250 * time.Millisecond
)

// Direct returns the last message on a subject of a stream, by a request whose subject
// names it, so that permissions can be given for it alone. The error is
// [ErrNoMessage] when several tries in a row have found none.
func (c *Conn) Direct(ctx context.Context, stream, subject string) (*Stored, error) {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for try := 1; ; try++ {
		s, err := c.DirectOnce(ctx, stream, subject)
		if err == nil && s.Header.Get("KV-Operation") != "" {
			s, err = nil, fmt.Errorf("%w: %s was deleted", ErrNoMessage, subject)
		}
		if err == nil || try == directTries {
			return s, err
		}
		rest.Reset(directRest)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// DirectOnce is Direct, once, and returns the mark of a key that was deleted, too.
func (c *Conn) DirectOnce(ctx context.Context, stream, subject string) (*Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.wait, BatchTimeout))
	defer cancel()
	m, err := c.NC.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		return nil, fmt.Errorf("read %s: %w", subject, err)
	case err != nil:
		return nil, fmt.Errorf("%w: read %s: %w", job.ErrUnavailable, subject, err)
	}
	switch status := statusOf(m); {
	case status == "404": // never written
		return nil, fmt.Errorf("%w: %s", ErrNoMessage, subject)
	case status != "":
		return nil, fmt.Errorf("%w: read %s: %s %s", job.ErrUnavailable, subject, status, m.Header.Get("Description"))
	}
	at, _ := time.Parse(time.RFC3339Nano, lastHeader(m, "Nats-Time-Stamp"))
	return &Stored{Subject: subject, Seq: headerUint(m, "Nats-Sequence"), Header: m.Header, Data: m.Data, At: at}, nil
}
