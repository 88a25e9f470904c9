package bustest

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// Event returns the message of e. It has the token of the trigger, as from an executor;
// an event of the kind held is as from a server. tokens are those of the cluster.
func Event(tokens *bus.Tokens, e *bus.Event) (*nats.Msg, error) {
	if e.Kind != bus.EventHeld {
		return e.Msg(tokens.Trigger(&bus.Trigger{RunID: e.RunID, Job: e.Job, Attempt: e.Attempt, Piece: e.Piece}, e.Retry, time.Now()))
	}
	return tokens.ServerEvent(e, time.Now())
}

// Pack returns the pack on a subject that has what messages of [Event] say of ends: even one alone, which
// executors send as it is.
func Pack(subject string, ends ...*nats.Msg) *nats.Msg {
	data := fmt.Appendf(nil, `{"instance":"packer","ends":%d}`, len(ends))
	for _, m := range ends {
		data = fmt.Appendf(data, "\n"+`{"token":%q,%s`, m.Header.Get(bus.HeaderToken), m.Data[1:])
	}
	return bus.NewMessage(subject, bus.MessageEnds, data)
}

// Log returns the message of l, as the executor that got the attempt publishes it.
func Log(tokens *bus.Tokens, l *bus.Log) (*nats.Msg, error) {
	return l.Msg(tokens.Trigger(&bus.Trigger{RunID: l.RunID, Job: l.Job, Attempt: l.Attempt, Piece: l.Piece}, false, time.Now()))
}

// Trigger returns t as the owner of its shard publishes it, on the given subject, with
// body, made by [bus.TriggerBody.Encode].
func Trigger(tokens *bus.Tokens, subject string, t *bus.Trigger, body string) *nats.Msg {
	m := bus.NewMessage(subject, bus.MessageTrigger, bus.AppendTrigger(nil, t, body))
	m.Header.Set(bus.HeaderToken, tokens.Trigger(t, t.Retry.Limit > 0, time.Now()))
	return m
}
