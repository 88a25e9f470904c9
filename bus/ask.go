package bus

import (
	"fmt"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1" // see decode
	"github.com/nats-io/nats.go"

	"carillon/job"
	"carillon/job/fleet"
)

// Asker asks instances without waiting for their answers, which all come on one channel:
// with thousands of questions a second, waking somebody up for each answer costs more
// than all the rest. One goroutine uses it.
type Asker struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	inbox  chan *nats.Msg
	prefix string // of the subjects of answers
	asked  uint64
}

// NewAsker returns an asker of which at most room questions are open at once: answers
// beyond that are lost. The caller closes it.
func (c *Conn) NewAsker(room int) (*Asker, error) {
	a := &Asker{nc: c.NC, inbox: make(chan *nats.Msg, room), prefix: c.NC.NewInbox() + "."}
	var err error
	if a.sub, err = a.nc.ChanSubscribe(a.prefix+"*", a.inbox); err != nil {
		return nil, fmt.Errorf("subscribe to answers of instances: %w", Unavailable(err))
	}
	return a, nil
}

// Close ends the asker: no more answers come.
func (a *Asker) Close() { _ = a.sub.Unsubscribe() } // fails only when the connection is closed

// Ask sends a request to one instance, as [Conn.AskInstance] does. It returns the number
// of the question, never the same twice. There may be no answer: who asks has to give up
// some time.
func (a *Asker) Ask(to Address, verb string, header nats.Header, body []byte) (question uint64, err error) {
	a.asked++
	m := newRequest(to, verb, header, body)
	m.Reply = a.prefix + strconv.FormatUint(a.asked, 36)
	if err := a.nc.PublishMsg(m); err != nil {
		return 0, fmt.Errorf("%w: send %q to instance %s: %w", job.ErrUnavailable, verb, to, err)
	}
	return a.asked, nil
}

// Inbox returns the channel on which answers arrive, each to be given to [Asker.Answer].
func (a *Asker) Inbox() <-chan *nats.Msg { return a.inbox }

// Answer returns which question m answers, and how. The error is [ErrNobodyThere] when the
// instance is gone, and what it refused otherwise.
func (a *Asker) Answer(m *nats.Msg) (question uint64, reply *fleet.InstanceReply, err error) {
	number, ours := strings.CutPrefix(m.Subject, a.prefix)
	question, err = strconv.ParseUint(number, 36, 64)
	if err != nil || !ours {
		return 0, nil, &job.InvalidError{Field: "subject", Reason: fmt.Sprintf("%q answers no question", m.Subject)}
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return question, nil, ErrNobodyThere
	}
	reply, err = parseInstanceReply(m)
	return question, reply, err
}

// parseInstanceReply returns what an instance has answered, or the fault that it found. It does
// so in one pass: there is an answer for each run that is routed.
func parseInstanceReply(m *nats.Msg) (*fleet.InstanceReply, error) {
	var r struct {
		Value *fleet.InstanceReply `json:"value"`
		Fault *fault               `json:"fault"`
	}
	switch err := json.Unmarshal(m.Data, &r); {
	case err != nil:
		return nil, fmt.Errorf("decode reply: %w", err)
	case r.Fault != nil:
		return nil, r.Fault.err()
	case r.Value == nil:
		return nil, fmt.Errorf("decode reply: %q has no value", m.Data)
	}
	return r.Value, nil
}
