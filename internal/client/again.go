package client

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// How long to ask a server again that says that a part of the system is away, after pauses that
// double.
const (
	againFor   = 30 * time.Second
	againFirst = time.Second
	againMost  = 8 * time.Second
)

// Again calls ask until the server does not answer that a part of the system is away, for at
// most half a minute; what is asked must do no harm when it is done twice. The error of the last
// try names the part, and said, unless it is nil, hears of those before.
func Again[T any](ctx context.Context, said func(err error, wait time.Duration), ask func() (T, error)) (T, error) {
	begun := time.Now()
	for next := againFirst; ; next = min(2*next, againMost) {
		answer, err := ask()
		if p, ok := errors.AsType[*Problem](err); !ok || !errors.Is(p, job.ErrUnavailable) || time.Since(begun)+next > againFor {
			return answer, err
		}
		if said != nil {
			said(err, next)
		}
		if pause.For(ctx, next) != nil {
			return answer, err
		}
	}
}
