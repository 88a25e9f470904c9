package guard

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// slotsOfUser is how many costly requests of one user are answered at once, and waitingOfUser how
	// many more may wait for that.
	slotsOfUser   = 4
	waitingOfUser = 16
	// slotWait is how long one waits.
	slotWait = 10 * time.Second
	// busyRetryAfter is when whoever is refused may try again, in seconds.
	busyRetryAfter = "5"
)

// errBusy means that costly requests have taken all slots.
var errBusy = fmt.Errorf("%w costly requests", problem.ErrTooMany)

// slots bounds how many costly requests are answered at once, for each user and in all: four for each core,
// and at least those of two users. It is safe for concurrent use.
type slots struct {
	all chan struct{}

	mu    sync.Mutex
	users map[string]*userSlots
}

// userSlots are those of one user, who has a costly request under way or waiting.
type userSlots struct {
	busy  chan struct{}
	count int // of requests under way and waiting
}

func newSlots() *slots {
	return &slots{all: make(chan struct{}, max(2*slotsOfUser, 4*runtime.GOMAXPROCS(0))), users: map[string]*userSlots{}}
}

// slot implements access.Slot.
type slot struct {
	*slots
	user  string
	of    *userSlots
	rests bool
}

// Rest implements access.Slot.
func (s *slot) Rest() {
	if !s.rests {
		s.rests = true
		<-s.all
	}
}

// Resume implements access.Slot.
func (s *slot) Resume(ctx context.Context) error {
	if !s.rests {
		return nil
	}
	select {
	case s.all <- struct{}{}:
		s.rests = false
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release implements access.Slot.
func (s *slot) Release() {
	s.Rest()
	<-s.of.busy
	s.leave(s.user)
}

// take waits for a slot. The error is problem.ErrTooMany if too many wait or it
// takes too long, or that of ctx.
func (s *slots) take(ctx context.Context, user string) (*slot, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, slotWait, errBusy)
	defer cancel()
	mine, err := s.takeResting(waiting, user)
	if err == nil {
		if err = mine.Resume(waiting); err != nil {
			mine.Release()
		}
	}
	if err != nil {
		return nil, explainBusy(err)
	}
	return mine, nil
}

// takeIdle is take for a request that only waits: it counts for its user, and leaves the processors to
// others.
func (s *slots) takeIdle(ctx context.Context, user string) (*slot, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, slotWait, errBusy)
	defer cancel()
	mine, err := s.takeResting(waiting, user)
	return mine, explainBusy(err)
}

// takeResting waits for a slot of the user's, which rests.
func (s *slots) takeResting(ctx context.Context, user string) (*slot, error) {
	u := s.enter(user)
	if u == nil {
		return nil, problem.Explain(errBusy, refusal.TooManyCostly.With(slotsOfUser+waitingOfUser))
	}
	select {
	case u.busy <- struct{}{}:
		return &slot{slots: s, user: user, of: u, rests: true}, nil
	case <-ctx.Done():
		s.leave(user)
		return nil, context.Cause(ctx)
	}
}

// explainBusy returns the error of a request that waited for too long with its reason, and any other as
// it is.
func explainBusy(err error) error {
	if err == errBusy { //nolint:errorlint // what is wrapped has its reason
		return problem.Explain(errBusy, refusal.CostlyBusy.String())
	}
	return err
}

// enter counts a request of a user, nil if there are too many.
func (s *slots) enter(user string) *userSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[user]
	if u == nil {
		u = &userSlots{busy: make(chan struct{}, slotsOfUser)}
		s.users[user] = u
	}
	if u.count == slotsOfUser+waitingOfUser {
		return nil
	}
	u.count++
	return u
}

func (s *slots) leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[user]; u.count == 1 {
		delete(s.users, user)
	} else {
		u.count--
	}
}
