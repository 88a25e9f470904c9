package dispatch

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// questions are the triggers that an instance has been asked to take. Most triggers need one question,
// to the instance that their route puts first: it costs no goroutine.
type questions struct {
	asker   *jet.Asker // nil: none can be asked
	answers <-chan *nats.Msg
	asked   map[uint64]*question // by their number
}

// question is a trigger that an instance has been asked to take.
type question struct {
	*waiting
	m  *member
	at time.Time
}

// open begins to take answers.
func (q *questions) open(ctx context.Context, g *group) {
	asker, err := g.d.conn.NewAsker(2 * maxOffers)
	if err != nil {
		g.d.log.DebugContext(ctx, "answers of instances not heard", "error", err)
		return
	}
	q.asker, q.answers, q.asked = asker, asker.Inbox(), map[uint64]*question{}
}

// close ends what open has begun.
func (q *questions) close() {
	if q.asker != nil {
		q.asker.Close()
	}
}

// ask asks the instance that comes first to take the trigger. It returns false if more
// than that is needed.
func (q *questions) ask(w *waiting) bool {
	if q.asker == nil || !w.clear || w.hasDeaths() || w.probes() || late(w.t, w.began) || w.began.Sub(w.came) >= patience {
		return false
	}
	m := w.g.first(w.offer, w.began)
	if m == nil {
		return false
	}
	number, err := q.asker.Ask(w.g.address(m), bus.VerbRun, bus.RunRequest(w.m, "", false), w.m.Data)
	if err != nil {
		return false
	}
	q.asked[number] = &question{waiting: w, m: m, at: w.began}
	return true
}

// answered returns the trigger that m is about, nil if its question was given up, and whether the
// instance has taken it or is busy.
func (q *questions) answered(m *nats.Msg) (*waiting, result) {
	number, reply, err := q.asker.Answer(m)
	of := q.asked[number]
	if of == nil {
		return nil, busy
	}
	delete(q.asked, number)
	of.learn(of.m, reply, err)
	if err != nil || reply.Answer != fleet.AnswerAccepted {
		return of.waiting, busy
	}
	of.remember(of.m)
	return of.waiting, taken
}

// expire gives up the questions that have waited for an answer too long, and returns their triggers.
func (q *questions) expire(now time.Time) (expired []*waiting) {
	for number, of := range q.asked {
		if now.Sub(of.at) > runWait {
			delete(q.asked, number)
			of.learn(of.m, nil, job.ErrUnavailable)
			expired = append(expired, of.waiting)
		}
	}
	return expired
}
