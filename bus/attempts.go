package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/job"
	"carillon/job/fleet"
)

// AttemptRef names an attempt, or one piece of it.
type AttemptRef struct {
	RunID   job.RunID `json:"run_id"`
	Attempt int       `json:"attempt"`
	Index   int       `json:"broadcast_index,omitempty"`
}

// Ref returns the name of t's attempt.
func (t *Trigger) Ref() AttemptRef { return AttemptRef{t.RunID, t.Attempt, t.Index} }

// Ref returns the name of the attempt that e is about.
func (e *Event) Ref() AttemptRef { return AttemptRef{e.RunID, e.Attempt, e.Index} }

// MaxAttemptsAsked bounds a [VerbAttempts] request.
const MaxAttemptsAsked = 500

// AttemptsRequest is the body of a [VerbAttempts] request. The answer has a [fleet.Custody] for
// each, in the same order.
type AttemptsRequest struct {
	Attempts []AttemptRef `json:"attempts"`
}

// Validate reports what is wrong with r as an *InvalidError.
func (r *AttemptsRequest) Validate() error {
	if n := len(r.Attempts); n < 1 || n > MaxAttemptsAsked {
		return &job.InvalidError{Field: "attempts", Reason: fmt.Sprintf("has %d; it must have 1 to %d", n, MaxAttemptsAsked)}
	}
	return nil
}

// Whereabouts is what the instances of a group say of attempts.
type Whereabouts struct {
	// Held and Reported tell which instance said so.
	Held, Reported map[AttemptRef]string
	// Silent are the instances that have not answered, though they may be alive: what
	// nobody else has, one of them may.
	Silent []string
}

// FindAttempts asks instances of a group which of the attempts they have, all at once and
// for no longer than timeout. Only they know: what has been delivered to whom is told by
// nothing else. There may be any number of attempts.
func (c *Conn) FindAttempts(ctx context.Context, instances []Address, attempts []AttemptRef, timeout time.Duration) Whereabouts {
	found := Whereabouts{Held: map[AttemptRef]string{}, Reported: map[AttemptRef]string{}}
	if len(attempts) == 0 {
		return found
	}
	var mu sync.Mutex // guards found
	var asking sync.WaitGroup
	for _, instance := range instances {
		asking.Go(func() {
			for from := 0; from < len(attempts); from += MaxAttemptsAsked {
				batch := attempts[from:min(from+MaxAttemptsAsked, len(attempts))]
				said, err := c.askAttempts(ctx, instance, batch, timeout)
				mu.Lock()
				if err != nil {
					found.Silent = append(found.Silent, instance.Instance())
				}
				for i, custody := range said {
					switch custody {
					case fleet.CustodyHeld:
						found.Held[batch[i]] = instance.Instance()
					case fleet.CustodyReported:
						found.Reported[batch[i]] = instance.Instance()
					case fleet.CustodyNone:
					}
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	asking.Wait()
	return found
}

// FindGroupAttempts is FindAttempts of all instances of a group that have been heard of
// lately, those included that may be gone.
func (c *Conn) FindGroupAttempts(ctx context.Context, group string, attempts []AttemptRef, timeout time.Duration) (Whereabouts, error) {
	instances, err := c.addresses(ctx, group)
	if err != nil {
		return Whereabouts{}, err
	}
	return c.FindAttempts(ctx, instances, attempts, timeout), nil
}

// askAttempts asks one instance. Who refuses the question speaks an older protocol: what
// it does cannot count, so it has nothing.
func (c *Conn) askAttempts(ctx context.Context, instance Address, attempts []AttemptRef, timeout time.Duration) ([]fleet.Custody, error) {
	body, err := json.Marshal(AttemptsRequest{Attempts: attempts})
	if err != nil {
		return nil, fmt.Errorf("encode question about attempts: %w", err)
	}
	reply, err := c.AskInstance(ctx, instance, VerbAttempts, nil, body, timeout)
	if errors.Is(err, job.ErrInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(reply.Attempts) != len(attempts) {
		return nil, fmt.Errorf("ask instance %s about attempts: it answered for %d of %d", instance, len(reply.Attempts), len(attempts))
	}
	return reply.Attempts, nil
}

// HandOverRequest returns the request by which an executor hands the trigger in m, which
// it pulled, to a server: it was delivered before, or is for somebody who can do it. On
// inbox comes an answer; see [Answered]. The servers read the trigger themselves, so the
// request has nothing but the subject of its acknowledgement, and who asks.
func HandOverRequest(group, instance string, m *nats.Msg, inbox string) *nats.Msg {
	return &nats.Msg{Subject: SubjectHand(group), Reply: inbox, Header: nats.Header{HeaderAck: {m.Reply}, HeaderInstance: {instance}}}
}

// Answered returns nil when m, the answer to a request that asks for nothing but consent,
// consents, [ErrNobodyThere] when nobody took the request, and the refusal otherwise.
func Answered(m *nats.Msg) error {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return ErrNobodyThere
	}
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return fmt.Errorf("decode reply on %s: %w", m.Subject, err)
	}
	if r.Fault != nil {
		return r.Fault.err()
	}
	return nil
}
