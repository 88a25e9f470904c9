package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// FindingTTL is how long a finding is kept, and not told anew.
const FindingTTL = 30 * 24 * time.Hour

const (
	findingPrefix = "finding."
	keyAudited    = "audited"
)

func findingKey(f *outcome.Finding) string {
	return findingPrefix + f.Job.Group() + "." + f.Job.Short() + "." + string(f.RunID)
}

// encodeFinding writes reasons as text alone, which views of the log store select.
func encodeFinding(f *outcome.Finding) ([]byte, error) {
	return json.Marshal(struct {
		outcome.Finding
		Reason string `json:"reason"`
		Healed string `json:"healed,omitempty"`
	}{*f, string(f.Reason), string(f.Healed)})
}

// Findings are the discrepancies that the ledger has found, and how far it has looked.
type Findings struct{ conn *Conn }

// Findings returns the discrepancies that the ledger has found.
func (c *Conn) Findings() Findings { return Findings{c} }

// Put keeps f, and reports whether it is new: of a run there is one finding.
func (fs Findings) Put(ctx context.Context, f *outcome.Finding) (isNew bool, err error) {
	kv, err := fs.conn.Bucket(ctx, bus.BucketLedger)
	if err != nil {
		return false, err
	}
	data, err := encodeFinding(f)
	if err != nil {
		return false, fmt.Errorf("encode finding about run %s: %w", f.RunID, err)
	}
	err = jet.AfterOthers(ctx, func(ctx context.Context) error { // one in flight may get lost
		_, err := kv.Create(ctx, findingKey(f), data, jetstream.KeyTTL(FindingTTL))
		return err
	})
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write finding about run %s: %w", f.RunID, jet.Unavailable(err))
	}
	return true, nil
}

// Heal keeps f, which has healed, in the place of what is kept about its run, and for as
// long as that was new.
func (fs Findings) Heal(ctx context.Context, f *outcome.Finding) error {
	data, err := encodeFinding(f)
	if err != nil {
		return fmt.Errorf("encode finding about run %s: %w", f.RunID, err)
	}
	// Put of the KV client would keep it for ever.
	m := nats.NewMsg("$KV." + bus.BucketLedger + "." + findingKey(f))
	m.Data = data
	m.Header.Set(jetstream.MsgTTLHeader, FindingTTL.String())
	if _, err := fs.conn.JS.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("write that the finding about run %s has healed: %w", f.RunID, jet.Unavailable(err))
	}
	return nil
}

// Watch follows the findings about all jobs; see [Jobs.Watch]. Entries are
// read by [DecodeFinding]; those without a value have been kept for long enough.
func (fs Findings) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return fs.conn.Watch(ctx, bus.BucketLedger, []string{findingPrefix + ">"}, false, 0)
}

// All returns the findings that the bucket has.
func (fs Findings) All(ctx context.Context) ([]outcome.Finding, error) {
	var all []outcome.Finding
	err := fs.conn.Entries(ctx, bus.BucketLedger, findingPrefix+">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		if f, err := DecodeFinding(e.Value()); err == nil { // else nobody can use it
			all = append(all, *f)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read findings of the ledger: %w", err)
	}
	return all, nil
}

// DecodeFinding reads what the bucket holds. The error is an *InvalidError.
func DecodeFinding(data []byte) (*outcome.Finding, error) {
	f := &outcome.Finding{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, &job.InvalidError{Field: "finding", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return f, nil
}

// Audited is how far the continuous audit of the ledger has come: by shard, up to which
// instant everything that was due is judged.
type Audited map[int]time.Time

// Audited returns how far the audit has come; it is empty at first.
func (fs Findings) Audited(ctx context.Context) (Audited, error) {
	e, err := fs.conn.Entry(ctx, bus.BucketLedger, keyAudited)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Audited{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read progress of the audit: %w", err)
	}
	text := map[string]time.Time{}
	if err := json.Unmarshal(e.Value(), &text); err != nil {
		return nil, fmt.Errorf("%w: progress of the audit is damaged: %w", job.ErrInvalid, err)
	}
	a := Audited{}
	for key, at := range text {
		if shard, err := strconv.Atoi(key); err == nil {
			a[shard] = at
		}
	}
	return a, nil
}

// PutAudited keeps how far the audit has come.
func (fs Findings) PutAudited(ctx context.Context, a Audited) error {
	kv, err := fs.conn.Bucket(ctx, bus.BucketLedger)
	if err != nil {
		return err
	}
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode progress of the audit: %w", err)
	}
	if _, err := kv.Put(ctx, keyAudited, data); err != nil {
		return fmt.Errorf("write progress of the audit: %w", jet.Unavailable(err))
	}
	return nil
}
