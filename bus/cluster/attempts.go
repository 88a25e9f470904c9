package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Whereabouts is what the instances of a group say of attempts.
type Whereabouts struct {
	// Held and Reported tell which instance said so.
	Held, Reported map[bus.AttemptRef]string
	// Silent are the instances that have not answered, though they may be alive: what
	// nobody else has, one of them may.
	Silent []string
}

// Attempts are the attempts of runs as instances know and claim them.
type Attempts struct{ conn *Conn }

// Attempts returns what instances know of attempts.
func (c *Conn) Attempts() Attempts { return Attempts{c} }

// Find asks instances of a group which of the attempts they have, all at once and
// for no longer than timeout. Only they know: what has been delivered to whom is told by
// nothing else. There may be any number of attempts.
func (as Attempts) Find(ctx context.Context, instances []bus.Address, attempts []bus.AttemptRef, timeout time.Duration) Whereabouts {
	found := Whereabouts{Held: map[bus.AttemptRef]string{}, Reported: map[bus.AttemptRef]string{}}
	if len(attempts) == 0 {
		return found
	}
	var mu sync.Mutex // guards found
	var asking sync.WaitGroup
	for _, instance := range instances {
		asking.Go(func() {
			for from := 0; from < len(attempts); from += bus.MaxAttemptsAsked {
				batch := attempts[from:min(from+bus.MaxAttemptsAsked, len(attempts))]
				said, err := as.ask(ctx, instance, batch, timeout)
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

// FindInGroup is [Attempts.Find] of all instances of a group that have been heard of
// lately, those included that may be gone.
func (as Attempts) FindInGroup(ctx context.Context, group string, attempts []bus.AttemptRef, timeout time.Duration) (Whereabouts, error) {
	instances, err := as.conn.Instances().addresses(ctx, group)
	if err != nil {
		return Whereabouts{}, err
	}
	return as.Find(ctx, instances, attempts, timeout), nil
}

// ask asks one instance.
func (as Attempts) ask(ctx context.Context, instance bus.Address, attempts []bus.AttemptRef, timeout time.Duration) ([]fleet.Custody, error) {
	body, err := json.Marshal(bus.AttemptsRequest{Attempts: attempts})
	if err != nil {
		return nil, fmt.Errorf("encode question about attempts: %w", err)
	}
	reply, err := as.conn.AskInstance(ctx, instance, bus.VerbAttempts, nil, body, timeout)
	if err != nil {
		return nil, err
	}
	if len(reply.Attempts) != len(attempts) {
		return nil, fmt.Errorf("ask instance %s about attempts: it answered for %d of %d", instance, len(reply.Attempts), len(attempts))
	}
	return reply.Attempts, nil
}

// Claim returns the claim of t's attempt, nil if nobody has begun it.
func (as Attempts) Claim(ctx context.Context, t *bus.Trigger) (*bus.Claim, error) {
	m, err := as.conn.Last(ctx, "KV_"+bus.BucketClaim, bus.SubjectClaim(t))
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(m.Data) == 0 {
		return nil, nil // the mark of one whose time was over
	}
	return bus.DecodeClaim(m.Subject, m.Data)
}

// Deaths returns the recorded deaths of executors with t's attempt, and their revision for
// [Attempts.PutDeaths]. They are empty if there are none.
func (as Attempts) Deaths(ctx context.Context, t *bus.Trigger) (*bus.Deaths, uint64, error) {
	m, err := as.conn.Last(ctx, "KV_"+bus.BucketClaim, bus.SubjectDeaths(t))
	if errors.Is(err, jet.ErrNoMessage) {
		return &bus.Deaths{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if len(m.Data) == 0 {
		return &bus.Deaths{}, m.Seq, nil // the mark of one whose time was over
	}
	d, err := bus.DecodeDeaths(m.Subject, m.Data)
	return d, m.Seq, err
}

// PutDeaths replaces what is kept at a revision, and returns the new revision. If another server
// was faster, the error is job.ErrConflict.
func (as Attempts) PutDeaths(ctx context.Context, t *bus.Trigger, d *bus.Deaths, revision uint64) (uint64, error) {
	m, err := d.Msg(t, revision)
	if err != nil {
		return 0, err
	}
	ack, err := as.conn.JS.PublishMsg(ctx, m)
	switch {
	case jet.WrongLast(err):
		return 0, fmt.Errorf("%w: another server has noted who died with run %s", job.ErrConflict, t.RunID)
	case err != nil:
		return 0, fmt.Errorf("note who died with run %s: %w", t.RunID, jet.Unavailable(err))
	}
	return ack.Sequence, nil
}
