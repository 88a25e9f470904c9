package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Case is one thing that the page asks of an executor.
type Case struct {
	Name    string // of letters, digits and hyphens
	Passage string // the heading of docs/reference/protocol.md under which it stands
	Rule    string // what the page asks for
	Level   Level
	Slow    bool          // takes more than ten seconds
	Payload int32         // max_payload of NATS; 0 is the usual 1 MiB
	Newer   bool          // what its triggers have is in no schema yet
	Ahead   time.Duration // by how much NATS' clock is ahead of the executor's

	run func(t *test)
}

// Level is the level of conformance that requires a case.
type Level int

// The levels of cases.
const (
	Required   Level = iota // without it runs are lost, done twice or never done
	Robust                  // for production: what is large, slow, wrong, or away for a while
	Partitions              // for clusters with several partitions
)

// String returns the level as --list shows it.
func (l Level) String() string { return [...]string{"required", "robust", "partitions"}[l] }

// test is a case that runs.
type test struct {
	*stage
	ctx  context.Context //nolint:containedctx // a test's is as long as the test
	exec *process
	from int      // what was heard before
	sent []string // for the report

	triggers uint64 // so far; their sequences on TRIG
}

// failure ends a case.
type failure struct{ text string }

func (t *test) failf(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

// notef notes what was sent.
func (t *test) notef(format string, args ...any) {
	t.sent = append(t.sent, fmt.Sprintf(format, args...))
}

// seconds bounds how long a case waits for what must come at once. A busy machine may need a while.
const seconds = 15 * time.Second

// shards is the cluster's number of shards.
const shards = 64

// given is a trigger that the executor was given.
type given struct {
	*test
	*bus.Trigger
	token string
	from  bus.Consumer // that hands it out
	seq   uint64
	ack   string // where it is answered
	mark  int
}

// trigger returns a new trigger for a handler.
func (t *test) trigger(handler string, params any, change ...func(*bus.Trigger)) *given {
	now := t.now()
	t.triggers++
	tr := &bus.Trigger{
		RunID: job.NewRunID(now), Job: group + "/" + job.Name(handler), Version: 1, Attempt: 1, Cause: job.CauseManual, FireTime: now, CommittedAt: now,
		TriggerBody: bus.TriggerBody{Delivery: "at_least_once", Task: job.Task{Handler: handler}},
	}
	if params != nil {
		data, err := json.Marshal(params)
		if err != nil {
			t.failf("encode params: %v", err)
		}
		tr.Params = data
	}
	for _, c := range change {
		c(tr)
	}
	tr.Shard = tr.Job.Shard(shards)
	return &given{test: t, Trigger: tr, token: t.tokens.Trigger(tr, tr.Retry.Limit > 0, now), seq: t.triggers, from: bus.ConsumersOf(group)[0]}
}

// message returns the trigger as it is on TRIG.
func (g *given) message() *nats.Msg {
	data, err := json.Marshal(g.Trigger)
	if err != nil {
		g.failf("encode trigger: %v", err)
	}
	m := bus.NewMessage(bus.SubjectTrigger(g.Shard, group), bus.MessageTrigger, data)
	m.Header.Set(bus.HeaderToken, g.token)
	return m
}

// pulled delivers the trigger to a pull request, as delivery number n.
func (g *given) pulled(n int) *given {
	return g.pulledAs(g.message(), n)
}

func (g *given) pulledAs(m *nats.Msg, n int) *given {
	g.mark = g.stage.mark()
	for deadline := time.Now().Add(seconds); ; {
		if g.ack = g.deliver(m, g.from, g.seq, n); g.ack != "" {
			g.notef("a trigger, delivery %d, reply subject %s: %s", n, g.ack, m.Data)
			return g
		}
		if time.Now().After(deadline) {
			g.failf("no pull request waits on $JS.API.CONSUMER.MSG.NEXT.TRIG.any-%s", group)
		}
		g.wait(20 * time.Millisecond)
	}
}

// wait lets time pass.
func (t *test) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.failf("interrupted")
	}
}

// events returns the events of a kind about the attempt that were heard.
func (g *given) events(kind bus.EventKind) []heard { return g.since(g.mark, g.isEvent(kind)) }

func (g *given) isEvent(kind bus.EventKind) func(heard) bool {
	return func(h heard) bool {
		var e struct {
			Kind  bus.EventKind `json:"kind"`
			RunID job.RunID     `json:"run_id"`
			Index int           `json:"broadcast_index"`
		}
		if !strings.HasPrefix(h.subject, "evt.") {
			return false
		}
		if json.Unmarshal(h.data, &e) != nil { // what nobody can read may be about it
			return strings.Contains(string(h.data), string(g.RunID))
		}
		return e.RunID == g.RunID && e.Kind == kind && e.Index == g.Index
	}
}

// ended waits for the finished event and returns it as a server reads it.
func (g *given) ended(within time.Duration) *bus.Event {
	found, ok := g.await(g.ctx, g.mark, 1, within, g.isEvent(bus.EventFinished))
	if !ok {
		g.failf("no finished event within %s", within)
	}
	return g.read(found[0])
}

// read returns an event as a server reads it, and fails if anything of it is wrong.
func (g *given) read(h heard) *bus.Event {
	e, err := g.tokens.DecodeEvent(h.subject, h.header, h.data, h.at.Add(g.ahead), shards)
	if err != nil {
		g.failf("a server refuses the event: %v\n%s", err, h)
	}
	if strings.Contains(e.Message, "report of the end is not valid") || strings.HasPrefix(e.Message, "corrected: ") || !json.Valid(h.data) {
		g.failf("a server had to mend the event: %s\n%s", e.Message, h)
	}
	id := string(g.RunID) + ":" + strconv.Itoa(g.Attempt)
	if g.Total > 0 {
		id += "." + strconv.Itoa(g.Index)
	}
	id += ":" + string(e.Kind)
	if got := h.header.Get(nats.MsgIdHdr); !strings.HasPrefix(got, id) || !strings.HasSuffix(got, ":"+g.token) {
		g.failf("%s is %q; want %s…:<token>", nats.MsgIdHdr, got, id)
	}
	return e
}

// answered waits for an answer to the trigger that begins with text.
func (g *given) answered(text string, within time.Duration) heard {
	found, ok := g.await(g.ctx, g.mark, 1, within, g.isAnswer(text))
	if !ok {
		g.failf("no %s within %s; answers: %v", text, within, g.since(g.mark, g.isAnswer("")))
	}
	return found[0]
}

func (g *given) isAnswer(text string) func(heard) bool {
	return func(h heard) bool { return h.subject == g.ack && strings.HasPrefix(string(h.data), text) }
}

// silent fails if an answer that begins with text has come.
func (g *given) silent(text string) {
	if got := g.since(g.mark, g.isAnswer(text)); len(got) > 0 {
		g.failf("it answered %s", got[0])
	}
}

// want fails unless the attempt ended so, with a message that has text in it.
func (g *given) want(e *bus.Event, status job.Status, text string) {
	if e.Status != status || !strings.Contains(e.Message, text) {
		g.failf("it ended as %s, %q; want %s with %q in its message", e.Status, e.Message, status, text)
	}
}

// instance returns the executor's last heartbeat.
func (t *test) instance() *bus.Heartbeat {
	found, ok := t.await(t.ctx, 0, 1, seconds, isBeat)
	if !ok {
		t.failf("no heartbeat")
	}
	last := found[len(found)-1]
	h, err := bus.ParseHeartbeat(strings.TrimPrefix(last.subject, bus.SubjectHeartbeats), last.data)
	if err != nil {
		t.failf("the heartbeat is wrong: %v\n%s", err, last)
	}
	return h
}

func isBeat(h heard) bool {
	return strings.HasPrefix(h.subject, bus.SubjectHeartbeats) && len(h.data) > 0
}

// ask sends a request to the instance and returns its answer.
func (t *test) ask(verb string, header nats.Header, body string) *fleet.InstanceReply {
	h := t.instance()
	m := bus.NewRequest(h.Address(), verb, header, []byte(body))
	t.notef("request %s: %s", verb, body)
	answer, err := t.nc.RequestMsg(m, seconds)
	if errors.Is(err, nats.ErrNoResponders) {
		t.failf("nobody listens on exec.%s.<instance>-<secret>.%s", group, verb)
	}
	if err != nil {
		t.failf("no answer to %s: %v", verb, err)
	}
	t.fit("instance-reply", "the answer to "+verb, answer.Data)
	reply, err := bus.DecodeInstanceReply(answer)
	if err != nil {
		t.failf("the answer to %s is wrong: %v\n%s", verb, err, answer.Data)
	}
	return reply
}
