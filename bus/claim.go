package bus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
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

// SubjectClaim is where the claim of t's attempt is kept.
func SubjectClaim(t *Trigger) string {
	return "$KV." + BucketClaim + "." + t.Job.Group() + "." + string(t.RunID) + "-" + strconv.Itoa(t.Attempt) + "-" + strconv.Itoa(t.Index)
}

// Msg returns the message that claims t's attempt. JetStream refuses it when there is
// a claim.
func (c *Claim) Msg(t *Trigger) (*nats.Msg, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode claim of run %s: %w", t.RunID, err)
	}
	m := &nats.Msg{Subject: SubjectClaim(t), Data: data, Header: nats.Header{}}
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, "0")
	m.Header.Set(HeaderTTL, ClaimFor.String())
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
	m.Header.Set(HeaderTTL, ClaimAfter.String())
	return m, nil
}

// HeaderTTL is how long NATS keeps a message.
const HeaderTTL = "Nats-TTL"

// DecodeClaim reads the claim that is stored on a subject. The error is an *InvalidError.
func DecodeClaim(subject string, data []byte) (*Claim, error) {
	claim := &Claim{}
	if err := json.Unmarshal(data, claim); err != nil {
		return nil, job.Invalid("claim", "at %s is damaged: %v", subject, err)
	}
	return claim, nil
}

// Deaths records the executors that died with an attempt. JetStream's count of deliveries cannot
// replace it: triggers that were given back count there, too.
type Deaths struct {
	// Deaths are at most [job.MaxMaxDeliveries], in the order in which they were found.
	Deaths []Death `json:"deaths"`
	// Handed is the instance that accepted the attempt from a server since; nil if there is none.
	Handed *Handed `json:"handed,omitempty"`
	// Cancelled says why the attempt was cancelled while an executor had it: nobody is to begin it
	// again.
	Cancelled string `json:"cancelled,omitempty"`
}

// Counted returns the last delivery whose executor is known to have died; 0 if there is none.
func (d *Deaths) Counted() (delivery int) {
	for i := range d.Deaths {
		delivery = max(delivery, d.Deaths[i].Delivery)
	}
	return delivery
}

// Death is a delivery whose executor died, or was cut off, before it reported an end.
type Death struct {
	Delivery int       `json:"delivery"`
	Instance string    `json:"instance,omitempty"` // empty: it died before it reported a start
	Alone    bool      `json:"alone,omitempty"`    // it ran nothing else
	At       time.Time `json:"at"`                 // when it was found
}

// Handed is a delivery that an instance has accepted from a server.
type Handed struct {
	Delivery int    `json:"delivery"`
	Instance string `json:"instance"`
	Alone    bool   `json:"alone,omitempty"` // it was told to run nothing else
}

// SubjectDeaths is where the deaths of t's attempt are kept: beside its claim, and beyond what
// the group's credentials reach.
func SubjectDeaths(t *Trigger) string { return SubjectClaim(t) + ".deaths" }

// Msg returns the message that replaces what is kept at a revision of the bucket; 0: nothing is.
func (d *Deaths) Msg(t *Trigger, revision uint64) (*nats.Msg, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode deaths of run %s: %w", t.RunID, err)
	}
	m := &nats.Msg{Subject: SubjectDeaths(t), Data: data, Header: nats.Header{}}
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, strconv.FormatUint(revision, 10))
	m.Header.Set(HeaderTTL, ClaimFor.String())
	return m, nil
}

// DecodeDeaths reads what is stored on a subject. The error is an *InvalidError.
func DecodeDeaths(subject string, data []byte) (*Deaths, error) {
	d := &Deaths{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, job.Invalid("deaths", "at %s is damaged: %v", subject, err)
	}
	return d, nil
}
