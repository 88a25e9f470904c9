package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func (w *world) acquire(c *cluster.Conn, node string) *jet.Lease {
	w.t.Helper()
	h, err := c.AcquireLease(w.t.Context(), "shard.1", node, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func TestALeaseHasOneHolderUntilItEnds(t *testing.T) {
	inCluster(t, func(w *world) {
		ctx := w.t.Context()
		a := w.acquire(w.conn, "a")
		for range 4 {
			time.Sleep(jet.LeaseRenew)
			if err := a.Renew(ctx); err != nil {
				w.t.Fatal(err)
			}
		}
		if _, err := w.conn.AcquireLease(ctx, "shard.1", "b", nil); !errors.Is(err, job.ErrConflict) {
			w.t.Errorf("a second holder: %v", err)
		}
		time.Sleep(jet.LeaseTTL - jet.LeaseMargin - time.Millisecond)
		if !a.Valid(time.Now()) {
			w.t.Error("the lease is not valid until its margin")
		}
		time.Sleep(time.Millisecond)
		if a.Valid(time.Now()) {
			w.t.Error("the lease is valid within its margin")
		}
		time.Sleep(jet.LeaseMargin + 2*time.Second)
		b := w.acquire(w.conn, "b")
		if b.Epoch <= a.Epoch {
			w.t.Errorf("epoch %d after %d", b.Epoch, a.Epoch)
		}
		if err := a.Renew(ctx); !errors.Is(err, job.ErrStale) {
			w.t.Errorf("renewing a lease that somebody else has: %v", err)
		}
		if err := a.Release(ctx); err != nil {
			w.t.Errorf("releasing a lease that somebody else has: %v", err)
		}
		if err := b.Renew(ctx); err != nil {
			w.t.Errorf("the late release took the lease from its holder: %v", err)
		}
	})
}

func TestAReleasedLeaseIsFreeAtOnceAndNotValid(t *testing.T) {
	inCluster(t, func(w *world) {
		a := w.acquire(w.conn, "a")
		if err := a.Release(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if a.Valid(time.Now()) {
			w.t.Error("a released lease is valid")
		}
		b := w.acquire(w.conn, "a") // even by the same node
		if err := a.Renew(w.t.Context()); !errors.Is(err, job.ErrStale) {
			w.t.Errorf("renewing a released lease: %v", err)
		}
		if err := b.Renew(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	})
}

func TestALeaseSurvivesARenewalWhoseAnswerIsLost(t *testing.T) {
	inCluster(t, func(w *world) {
		a := w.acquire(w.connect("a"), "a")
		w.broker.Deafen("a")
		if err := a.Renew(w.t.Context()); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("renewing without an answer: %v", err)
		}
		w.broker.Heal("a")
		time.Sleep(time.Second)
		asked := time.Now()
		if err := a.Renew(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if until := a.Until(); until.Before(asked.Add(jet.LeaseTTL - jet.LeaseMargin)) {
			w.t.Errorf("the lease lasts until %v after it was renewed", until.Sub(asked))
		}
		if err := a.Release(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.acquire(w.conn, "b")
	})
}

func TestAReleaseFindsTheRevisionOfALostRenewal(t *testing.T) {
	inCluster(t, func(w *world) {
		a := w.acquire(w.connect("a"), "a")
		w.broker.Deafen("a")
		if err := a.Renew(w.t.Context()); err == nil {
			w.t.Error("renewed without an answer")
		}
		w.broker.Heal("a")
		time.Sleep(time.Second)
		if err := a.Release(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.acquire(w.conn, "b")
	})
}

func TestANamesakeIsNotTheHolder(t *testing.T) {
	inCluster(t, func(w *world) {
		first := w.acquire(w.conn, "a")
		time.Sleep(jet.LeaseTTL + 2*time.Second)
		second := w.acquire(w.conn, "a")
		if err := first.Renew(w.t.Context()); !errors.Is(err, job.ErrStale) {
			w.t.Errorf("renewing a namesake's lease: %v", err)
		}
		if err := second.Renew(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	})
}
