package pause_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/internal/pause"
)

func TestAPauseEndsWithItsTimeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := pause.For(t.Context(), time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("it returned %v after %v, want nil after 1m", err, time.Since(begun))
		}
		cause := errors.New("the lease is lost")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := pause.For(ctx, time.Minute); !errors.Is(err, cause) {
			t.Errorf("it returned %v, want the cause of the context", err)
		}
	})
}

func TestABackoffDoublesUpToItsMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(b pause.Backoff) (all []time.Duration) {
			for range 5 {
				begun := time.Now()
				if err := b.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				all = append(all, time.Since(begun))
			}
			return all
		}
		plain := waits(pause.Backoff{Least: time.Second, Most: 5 * time.Second})
		if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}; !slices.Equal(plain, want) {
			t.Errorf("it waited %v, want %v", plain, want)
		}
		for i, got := range waits(pause.Backoff{Least: time.Second, Most: 5 * time.Second, Jitter: true}) {
			if got < plain[i]/2 || got >= plain[i]*3/2 {
				t.Errorf("wait %d with jitter took %v, want half of %v to one and a half of it", i, got, plain[i])
			}
		}
	})
}
