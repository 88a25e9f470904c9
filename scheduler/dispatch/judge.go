package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// judgeAtOnce is how many attempts are judged in one round, and judgeAgain after how
	// long those without a verdict are judged again.
	judgeAtOnce = bus.MaxAttemptsAsked
	judgeAgain  = time.Second
	// judgeWait bounds a round.
	judgeWait = 10 * time.Second
	// judgeParallel is how many requests of a round to one group are open at once.
	judgeParallel = 16
)

// verdict is what is known of an attempt whose trigger has come again.
type verdict int

const (
	unclear   verdict = iota // somebody may have it who does not answer, or what is stored is not known
	free                     // nobody has it and no end is stored: it may begin
	elsewhere                // an instance has it, and has got this delivery of its trigger
	over                     // its end is stored
	lost                     // it was begun, must not be begun again, and nobody has it
)

// court judges the attempts of a group whose triggers have come again, of one partition: what does
// not answer there holds up no other one. It is safe for concurrent use.
type court struct {
	mu      sync.Mutex
	waiting []*suspect
	sitting bool
}

// suspect is an attempt that waits for its verdict.
type suspect struct {
	*offer
	looked  bool          // its end has been looked for
	claim   *bus.Claim    // of one that must not be done twice; nil: nobody has begun it
	begun   cluster.Begin // the last that was reported
	verdict chan verdict  // has room for it
}

// judge settles an attempt that somebody may have, or have ended. It returns false if the
// attempt may be offered: nobody has it, and no end of it is stored.
func (o *offer) judge(ctx context.Context) (settled bool) {
	again := time.NewTimer(0)
	defer again.Stop()
	<-again.C
	s := &suspect{offer: o, verdict: make(chan verdict, 1)}
	for {
		o.sign()
		if o.g.naks.allGivenBack(o.at, o.delivery) { // which may be heard after the trigger
			o.clear = true
			return false
		}
		switch o.g.judge(ctx, s) {
		case free:
			ended, err := s.countDeath(ctx)
			if err == nil {
				if o.clear = true; !o.suspect() { // whose deaths are to be known the next time
					o.g.naks.noteFree(o.at, o.delivery)
				}
				return ended
			}
			o.g.d.log.DebugContext(ctx, "deaths of executors not counted", "run_id", o.t.RunID, "error", err)
		case elsewhere:
			o.g.d.metrics.outcome(outcomeTaken)
			return true
		case over:
			o.g.d.metrics.outcome(outcomeOver)
			o.g.answer(o.m, "+ACK")
			return true
		case lost:
			o.fail(ctx, job.StatusLost, reason.WentSilent.With(s.claim.Instance))
			return true
		case unclear:
		}
		if ctx.Err() != nil || time.Since(o.began) > keepFor {
			o.handBack()
			return true
		}
		again.Reset(judgeAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// sign tells JetStream that the trigger is in good hands, if it has not been for a while.
func (o *offer) sign() {
	if now := time.Now(); now.Sub(o.signed) >= signEvery {
		o.signed = now
		o.g.answer(o.m, "+WPI")
	}
}

// judge returns the verdict on an attempt, in a round with others of its group and partition.
func (g *group) judge(ctx context.Context, s *suspect) verdict {
	c := &g.courts[g.d.conn.Cluster().Partitions.Of(s.t.Shard)]
	c.mu.Lock()
	c.waiting = append(c.waiting, s)
	if !c.sitting {
		c.sitting = true
		g.d.serving.Go(func() { g.sit(context.WithoutCancel(ctx), c) })
	}
	c.mu.Unlock()
	select {
	case v := <-s.verdict:
		return v
	case <-ctx.Done():
		return unclear
	}
}

// sit judges round after round until nobody waits.
func (g *group) sit(ctx context.Context, c *court) {
	for {
		c.mu.Lock()
		n := min(len(c.waiting), judgeAtOnce)
		round := slices.Clone(c.waiting[:n])
		c.waiting = slices.Delete(c.waiting, 0, n)
		c.sitting = n > 0
		c.mu.Unlock()
		if n == 0 {
			return
		}
		limited, cancel := context.WithTimeout(ctx, judgeWait)
		verdicts := g.deliberate(limited, round)
		cancel()
		for i, s := range round {
			s.verdict <- verdicts[i]
		}
	}
}

// deliberate finds the verdicts on attempts. The order of its steps matters: who has
// claimed an attempt has it already, so claims are read before the instances are asked;
// and an instance that has an attempt when asked stores its end only after that, so ends
// are read last.
func (g *group) deliberate(ctx context.Context, all []*suspect) []verdict {
	verdicts := make([]verdict, len(all)) // unclear, all of them
	known := make([]bool, len(all))       // their claims are
	each(all, func(i int, s *suspect) { known[i] = s.readClaim(ctx) })

	refs := make([]bus.AttemptRef, len(all))
	for i, s := range all {
		refs[i] = s.t.Ref()
	}
	found := g.d.conn.Whereabouts().Holders(ctx, g.addresses(), refs, askWait)
	// Asked before, so that one that appears meanwhile has been heard of.
	complete := len(found.Silent) == 0 && g.d.presence.settled(time.Now())

	var open []*suspect
	var index []int
	each(all, func(i int, s *suspect) {
		if holder, held := found.Held[refs[i]]; held && s.handTo(ctx, holder) {
			verdicts[i] = elsewhere
		}
	})
	for i, s := range all {
		_, held := found.Held[refs[i]]
		switch _, reported := found.Reported[refs[i]]; {
		case held:
		case reported, known[i] && s.claim != nil && s.claim.Ended:
			verdicts[i] = over
		case known[i] && (complete || !s.looked):
			s.looked = true // once is enough while it cannot be free
			open, index = append(open, s), append(index, i)
		}
	}
	ends := g.endsOf(ctx, open)
	for k, s := range open {
		switch {
		case ends[k] == endFound:
			verdicts[index[k]] = over
		case ends[k] == endUnknown || !complete:
		case s.claim != nil:
			verdicts[index[k]] = lost
		default:
			verdicts[index[k]] = free
		}
	}
	return verdicts
}

// each calls do for all suspects, some at a time.
func each(all []*suspect, do func(i int, s *suspect)) {
	var work errgroup.Group
	work.SetLimit(judgeParallel)
	for i, s := range all {
		work.Go(func() error { do(i, s); return nil })
	}
	_ = work.Wait() // they return none
}

// readClaim finds out who has begun an attempt that must not be done twice. It returns
// false when that is not known.
func (s *suspect) readClaim(ctx context.Context) bool {
	if s.t.Delivery != job.AtMostOnce {
		return true
	}
	claim, err := s.g.d.conn.Attempts().Claim(ctx, s.t)
	if err != nil {
		s.g.d.log.DebugContext(ctx, "claim not read", "run_id", s.t.RunID, "error", err)
		return false
	}
	s.claim = claim
	return true
}

// handTo hands this delivery of the trigger to the instance that has the attempt.
func (s *suspect) handTo(ctx context.Context, instance string) bool {
	m := s.g.find(instance)
	if m == nil {
		return false
	}
	reply, err := s.ask(ctx, m, bus.VerbRun, bus.RunRequest(s.m, "", true), s.m.Data, runWait)
	return err == nil && reply.Answer == fleet.AnswerAccepted
}
