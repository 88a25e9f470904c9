package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// judgeAtOnce is how many attempts are judged in one round, and judgeAgain after how
	// long those without a conclusion are judged again.
	judgeAtOnce = bus.MaxAttemptsAsked
	judgeAgain  = time.Second
	// judgeWait bounds a round.
	judgeWait = 10 * time.Second
	// judgeParallel is how many requests of a round to one group are open at once.
	judgeParallel = 16
)

// conclusion is what became of an attempt whose trigger was delivered again.
type conclusion int

const (
	unclear   conclusion = iota // somebody may have it who does not answer, or what is stored is not known
	free                        // nobody has it and no end is stored: it may begin
	elsewhere                   // an instance has it, and has got this delivery of its trigger
	over                        // its end is stored
	lost                        // it was begun, must not be begun again, and nobody has it
)

// judge decides in rounds what became of redelivered attempts of a group, in one partition: a partition
// that does not answer delays no other. It is safe for concurrent use.
type judge struct {
	mu      sync.Mutex
	waiting []*redelivery
	judging bool
}

// redelivery is an attempt whose trigger was delivered again.
type redelivery struct {
	*offer
	endsRead  bool            // whether its end is stored was checked
	claim     *bus.Claim      // of one that must not be done twice; nil: nobody has begun it
	begun     cluster.Begin   // the last that was reported
	packsFrom uint64          // sequence at which the search for its end in packs continues; 0: not begun
	packed    bool            // its end was found in a pack
	searching bool            // nothing but the search keeps it from a conclusion
	concluded chan conclusion // has room for it
}

// judge settles an attempt that somebody may have, or have ended. It returns false if the
// attempt may be offered: nobody has it, and no end of it is stored.
func (o *offer) judge(ctx context.Context) (settled bool) {
	again := time.NewTimer(0)
	defer again.Stop()
	<-again.C
	s := &redelivery{offer: o, concluded: make(chan conclusion, 1)}
	for {
		o.sign()
		if o.pack.seq == 0 && o.g.naks.allGivenBack(o.at, o.delivery) { // which may be heard after the trigger
			o.clear = true
			return false
		}
		s.searching = false
		verdict := unclear
		if o.apart(ctx) {
			verdict = o.g.judge(ctx, s)
		}
		switch verdict {
		case free:
			ended, err := s.countDeath(ctx)
			if err == nil {
				o.began = time.Now()                                   // to be judged may have taken long
				if o.clear = true; !o.hasDeaths() && o.pack.seq == 0 { // one with deaths is judged again: that counts them
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
		if ctx.Err() != nil || time.Since(o.began) > keepFor && !s.searching {
			o.giveBack()
			return true
		}
		again.Reset(judgeAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// sign sends an in-progress acknowledgement of the trigger, once in signEvery.
func (o *offer) sign() {
	if now := time.Now(); now.Sub(o.signed) >= signEvery {
		o.signed = now
		o.g.answer(o.m, "+WPI")
	}
}

// judge returns what became of an attempt. It is judged in a round with others of its group and partition.
func (g *group) judge(ctx context.Context, s *redelivery) conclusion {
	c := &g.judges[g.d.conn.Cluster().Partitions.Of(s.t.Shard)]
	c.mu.Lock()
	c.waiting = append(c.waiting, s)
	if !c.judging {
		c.judging = true
		g.d.serving.Go(func() { g.runJudge(context.WithoutCancel(ctx), c) })
	}
	c.mu.Unlock()
	select {
	case v := <-s.concluded:
		return v
	case <-ctx.Done():
		return unclear
	}
}

// runJudge judges round after round until no attempt waits.
func (g *group) runJudge(ctx context.Context, c *judge) {
	for {
		c.mu.Lock()
		n := min(len(c.waiting), judgeAtOnce)
		round := slices.Clone(c.waiting[:n])
		c.waiting = slices.Delete(c.waiting, 0, n)
		c.judging = n > 0
		c.mu.Unlock()
		if n == 0 {
			return
		}
		limited, cancel := context.WithTimeout(ctx, judgeWait)
		conclusions := g.judgeRound(limited, c, round)
		cancel()
		for i, s := range round {
			s.concluded <- conclusions[i]
		}
	}
}

// judgeRound returns what became of attempts. The order of its steps matters: who has
// claimed an attempt has it already, so claims are read before the instances are asked;
// and an instance that has an attempt when asked stores its end only after that, so ends
// are read last.
func (g *group) judgeRound(ctx context.Context, c *judge, all []*redelivery) []conclusion {
	conclusions := make([]conclusion, len(all)) // unclear, all of them
	known := make([]bool, len(all))             // their claims are
	each(all, func(i int, s *redelivery) { known[i] = s.readClaim(ctx) })

	refs := make([]bus.AttemptRef, len(all))
	for i, s := range all {
		refs[i] = s.t.Ref()
	}
	found := g.d.conn.Whereabouts().Holders(ctx, g.addresses(), refs, askWait)
	// Asked before, so that one that appears meanwhile has been heard of.
	complete := len(found.Silent) == 0 && g.d.presence.settled(time.Now())

	var open []*redelivery
	var index []int
	each(all, func(i int, s *redelivery) {
		if holder, held := found.Held[refs[i]]; held && s.deliverTo(ctx, holder) {
			conclusions[i] = elsewhere
		}
	})
	for i, s := range all {
		_, held := found.Held[refs[i]]
		switch _, reported := found.Reported[refs[i]]; {
		case held:
		case reported, known[i] && s.claim != nil && s.claim.Ended:
			conclusions[i] = over
		case known[i] && (complete || !s.endsRead):
			open, index = append(open, s), append(index, i)
		}
	}
	ends := g.endsOf(ctx, c, open)
	for k, s := range open {
		s.endsRead = s.endsRead || ends[k] == endNone // once is enough while it cannot be free
		switch {
		case ends[k] == endFound:
			conclusions[index[k]] = over
		case ends[k] == endUnknown || !complete:
		case s.claim != nil:
			conclusions[index[k]] = lost
		default:
			conclusions[index[k]] = free
		}
	}
	return conclusions
}

// each calls do for all attempts, some at a time.
func each(all []*redelivery, do func(i int, s *redelivery)) {
	var work errgroup.Group
	work.SetLimit(judgeParallel)
	for i, s := range all {
		work.Go(func() error { do(i, s); return nil })
	}
	_ = work.Wait() // they return none
}

// readClaim finds out who has begun an attempt that must not be done twice. It returns
// false when that is not known.
func (s *redelivery) readClaim(ctx context.Context) bool {
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

// deliverTo transfers this delivery of the trigger to the instance that has the attempt.
func (s *redelivery) deliverTo(ctx context.Context, instance string) bool {
	m := s.g.find(instance)
	if m == nil {
		return false
	}
	reply, err := s.ask(ctx, m, bus.VerbRun, bus.RunRequest(s.m, "", true), s.m.Data, runWait)
	return err == nil && reply.Answer == fleet.AnswerAccepted
}
