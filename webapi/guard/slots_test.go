package guard

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/webapi/problem"
)

func TestCostlyRequestsOfOneUserTakeFewSlotsAndTheRestIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots()
		s.all = make(chan struct{}, 2*slotsOfUser)
		end := make(chan struct{})
		var running, refused, most atomic.Int32
		request := func(user string) {
			slot, err := s.take(t.Context(), user)
			if err != nil {
				if !errors.Is(err, problem.ErrTooMany) {
					t.Error(err)
				}
				refused.Add(1)
				return
			}
			most.Store(max(most.Load(), running.Add(1)))
			<-end
			running.Add(-1)
			slot.Release()
		}
		for range 24 {
			go request("eve")
		}
		synctest.Wait()
		if running.Load() != slotsOfUser || refused.Load() != 24-slotsOfUser-waitingOfUser {
			t.Errorf("%d run and %d are refused", running.Load(), refused.Load())
		}
		for _, user := range []string{"ann", "bob"} {
			go request(user)
		}
		synctest.Wait()
		if running.Load() != slotsOfUser+2 {
			t.Errorf("%d run with two other users", running.Load())
		}
		time.Sleep(slotWait)
		synctest.Wait()
		if refused.Load() != 24-slotsOfUser {
			t.Errorf("after %s %d are refused", slotWait, refused.Load())
		}
		close(end)
		synctest.Wait()
		if len(s.users) != 0 || len(s.all) != 0 || running.Load() != 0 {
			t.Errorf("%v and %d slots are left", s.users, len(s.all))
		}
	})
}

func TestACostlyRequestWhoseTimeIsOverWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots()
		s.all = make(chan struct{}, 1)
		slot, err := s.take(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("over")
		go func() { time.Sleep(time.Second); cancel(over) }()
		if _, err := s.take(ctx, "bob"); !errors.Is(err, over) {
			t.Errorf("%v", err)
		}
		slot.Release()
		if _, err := s.take(t.Context(), "bob"); err != nil {
			t.Error(err)
		}
	})
}

func TestASlotThatRestsMakesRoomForOthersAndStillCountsForItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots()
		s.all = make(chan struct{}, 1)
		export, err := s.take(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		export.Rest()
		other, err := s.take(t.Context(), "bob")
		if err != nil {
			t.Fatal(err)
		}
		if len(s.users) != 2 || len(s.users["ann"].busy) != 1 {
			t.Errorf("%v", s.users)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("over")
		cancel(over)
		if err := export.Resume(ctx); !errors.Is(err, over) {
			t.Errorf("resumed: %v", err)
		}
		resumed := make(chan error, 1)
		go func() { resumed <- export.Resume(t.Context()) }()
		synctest.Wait()
		other.Release()
		if err := <-resumed; err != nil {
			t.Error(err)
		}
		export.Release()
		if len(s.users) != 0 || len(s.all) != 0 {
			t.Errorf("%v and %d slots are left", s.users, len(s.all))
		}
	})
}
