package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// Claim says that an instance has begun an attempt that must not be begun twice. The
// first claim of an attempt stands; what JetStream counts as deliveries does not tell,
// since triggers are handed back that nobody has begun.
type Claim struct {
	Instance string `json:"instance"`
	Delivery int    `json:"delivery"` // of the trigger, when the instance got it
	// Try tells this claim from all others, for the instance whose answer got lost.
	Try string `json:"try,omitempty"`
	// Ended says that the attempt has ended, and that its end is stored.
	Ended bool `json:"ended,omitempty"`
}

// ClaimFor is how long a claim is kept: longer than the longest run that has a
// timeout. ClaimAfter is how long it is kept once the attempt has ended, for a trigger
// whose acknowledgement was lost.
const (
	ClaimFor   = job.MaxTimeout + 24*time.Hour
	ClaimAfter = 10 * time.Minute
)

// claimSubject is where the claim of t's attempt is kept.
func claimSubject(t *Trigger) string {
	return "$KV." + BucketClaim + "." + t.Job.Group() + "." + string(t.RunID) + "-" + strconv.Itoa(t.Attempt) + "-" + strconv.Itoa(t.Index)
}

// Msg returns the message that claims t's attempt. JetStream refuses it when there is
// a claim; see [ClaimTaken].
func (c *Claim) Msg(t *Trigger) (*nats.Msg, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode claim of run %s: %w", t.RunID, err)
	}
	m := &nats.Msg{Subject: claimSubject(t), Data: data, Header: nats.Header{}}
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, "0")
	m.Header.Set(headerTTL, ClaimFor.String())
	return m, nil
}

// OverMsg returns the message that lets the claim go, some time after the attempt has
// ended.
func (c *Claim) OverMsg(t *Trigger) (*nats.Msg, error) {
	over := *c
	over.Ended = true
	m, err := over.Msg(t)
	if err != nil {
		return nil, err
	}
	m.Header.Del(nats.ExpectedLastSubjSeqHdr)
	m.Header.Set(headerTTL, ClaimAfter.String())
	return m, nil
}

const headerTTL = "Nats-TTL"

// ClaimTaken reports whether err says that the attempt was claimed before.
func ClaimTaken(err error) bool { return isWrongLast(err) }

// ClaimOf returns who has begun t's attempt, nil if nobody has.
func (c *Conn) ClaimOf(ctx context.Context, t *Trigger) (*Claim, error) {
	m, err := c.Last(ctx, "KV_"+BucketClaim, claimSubject(t))
	if errors.Is(err, ErrNoMessage) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(m.Data) == 0 {
		return nil, nil // the mark of one whose time was over
	}
	return decodeClaim(m)
}

// StandingClaim returns the claim on t's attempt, of which the caller knows that it was
// stored. It reads as an executor may; the error is [ErrNoMessage] while a replica that
// lags behind answers.
func (c *Conn) StandingClaim(ctx context.Context, t *Trigger) (*Claim, error) {
	m, err := c.direct(ctx, "KV_"+BucketClaim, claimSubject(t))
	if err != nil {
		return nil, err
	}
	return decodeClaim(m)
}

func decodeClaim(m *Stored) (*Claim, error) {
	claim := &Claim{}
	if err := json.Unmarshal(m.Data, claim); err != nil {
		return nil, &job.InvalidError{Field: "claim", Reason: fmt.Sprintf("at %s is damaged: %v", m.Subject, err)}
	}
	return claim, nil
}

// claimBucket keeps claims, each for a time of its own.
func claimBucket(replicas int) jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket: BucketClaim, Description: "which instance has begun an attempt that must not be begun twice",
		LimitMarkerTTL: time.Minute, MaxValueSize: 4 << 10, Replicas: replicas,
	}
}
