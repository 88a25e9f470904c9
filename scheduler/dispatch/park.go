package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// park keeps a trigger until an instance has a free slot.
func (s *server) park(o *offer) {
	at, _ := slices.BinarySearchFunc(s.parked, o, compareAge)
	s.parked = slices.Insert(s.parked, at, o)
}

// resume offers again what has been parked longest. One at a time: as long as nobody is
// known to have a free slot, more would all be refused.
func (s *server) resume(ctx context.Context) {
	if s.resuming {
		return
	}
	o := s.parked[0]
	s.parked = slices.Delete(s.parked, 0, 1)
	o.resumed, s.resuming = true, true
	s.work(ctx, o)
}

// tick gives up questions without an answer, keeps what is parked, and lets go what has
// been so for long.
func (s *server) tick(ctx context.Context, now time.Time) {
	s.puller.Look(now)
	for number, q := range s.asked {
		if now.Sub(q.at) > runWait {
			delete(s.asked, number)
			s.inHand--
			q.learn(q.m, nil, job.ErrUnavailable)
			s.g.d.metrics.outcome(outcomeUnknown) // it comes again, unless who has it says that it lives
		}
	}
	s.parked = slices.DeleteFunc(s.parked, func(o *offer) bool {
		if now.Sub(o.came) > keepFor {
			s.inHand--
			s.g.d.metrics.outcome(outcomeHeld)
			o.handBackFor(0) // it has waited here for long
			return true
		}
		if now.Sub(o.signed) >= signEvery {
			o.signed = now
			s.g.answer(o.m, "+WPI")
		}
		if now.Sub(o.came) >= patience && !o.told {
			o.tell(ctx, o.why(busy))
		}
		return false
	})
}

// gone reports whether the trigger has been taken off the stream while it was in hand: somebody has
// called the run off. A server that was cut off may say so in error, for as long as it believes that it
// leads the stream. So the trigger is given back, not ended: JetStream forgets one that is gone.
func (o *offer) gone(ctx context.Context) bool {
	if time.Since(o.came) < patience {
		return false // it had hardly come
	}
	if _, err := o.g.d.conn.At(ctx, o.at.Stream, o.at.Seq); errors.Is(err, jet.ErrNoMessage) {
		o.handBackFor(holdMin)
		return true
	}
	return false
}
