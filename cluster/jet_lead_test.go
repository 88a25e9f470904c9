package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// leader is somebody who does a thing that one at a time may do.
type leader struct {
	conn *cluster.Conn
	fail chan error
	stop context.CancelFunc
	over chan struct{}

	mu      sync.Mutex
	working bool
	terms   int
	ended   error // why the last term did
}

func (w *world) lead(name string) *leader {
	ctx, stop := context.WithCancel(w.t.Context())
	l := &leader{conn: w.connect(name), fail: make(chan error), stop: stop, over: make(chan struct{})}
	go func() {
		defer close(l.over)
		l.conn.Lead(ctx, "role.test", name, slog.New(slog.DiscardHandler), l.work)
	}()
	w.t.Cleanup(func() { stop(); <-l.over })
	return l
}

func (l *leader) work(ctx context.Context, _ *jet.Lease) error {
	l.set(true, nil)
	defer func() { l.set(false, context.Cause(ctx)) }()
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.fail:
		return err
	}
}

func (l *leader) set(working bool, ended error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.working, l.ended = working, ended; working {
		l.terms++
	}
}

func (l *leader) get() (working bool, terms int, ended error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.working, l.terms, l.ended
}

// later lets time pass, and wants to find who works, and for how often somebody has.
func (w *world) later(d time.Duration, a, b *leader, want string, terms int) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	aWorks, aTerms, _ := a.get()
	bWorks, bTerms, _ := b.get()
	got := map[[2]bool]string{{true, false}: "a", {false, true}: "b", {true, true}: "both"}[[2]bool{aWorks, bWorks}]
	if got != want || aTerms+bTerms != terms {
		w.t.Fatalf("%q works in term %d, want %q in %d", got, aTerms+bTerms, want, terms)
	}
}

func TestOneAtATimeLeads(t *testing.T) {
	inCluster(t, func(w *world) {
		a := w.lead("a")
		synctest.Wait()
		b := w.lead("b")
		w.later(time.Minute+100*time.Millisecond, a, b, "a", 1)

		// Who fails gives the lease away at once.
		a.fail <- errors.New("cannot go on")
		w.later(jet.LeaseRenew-time.Millisecond, a, b, "b", 2)
		w.later(time.Minute, a, b, "b", 2)

		// Who is cut off stops before another begins.
		w.broker.Partition("b")
		w.later(jet.LeaseTTL-jet.LeaseMargin, a, b, "", 2)
		if _, _, ended := b.get(); !errors.Is(ended, job.ErrStale) {
			t.Errorf("the lease was lost, and the context ended for %v", ended)
		}
		w.later(jet.LeaseMargin+2*time.Second+jet.LeaseRenew, a, b, "a", 3)
		w.broker.Heal("b")
		w.later(time.Minute, a, b, "a", 3)

		// Who stops need not be waited for.
		a.stop()
		<-a.over
		w.later(jet.LeaseRenew, a, b, "b", 4)
	})
}
