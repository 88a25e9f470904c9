package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

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
	return f.Job.Group() + "." + f.Job.Short() + "." + string(f.RunID)
}

// storedFinding is a finding as the bucket has it.
type storedFinding struct{ outcome.Finding }

// MarshalJSON writes reasons as text alone, which views of the log store select.
func (f storedFinding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		outcome.Finding
		Reason string `json:"reason"`
		Healed string `json:"healed,omitempty"`
	}{f.Finding, string(f.Reason), string(f.Healed)})
}

var (
	kindFinding = jet.Kind[storedFinding]{
		Bucket: bus.BucketLedger, Prefix: findingPrefix, TTL: FindingTTL,
		Name: func(key string) string { return "the finding about run " + key[strings.LastIndexByte(key, '.')+1:] },
		Decode: func(_ string, data []byte) (storedFinding, error) {
			f, err := DecodeFinding(data)
			if err != nil {
				return storedFinding{}, err
			}
			return storedFinding{*f}, nil
		},
	}
	kindAudited = jet.Kind[Audited]{Bucket: bus.BucketLedger, Prefix: keyAudited, Name: func(string) string { return "the progress of the audit" }}
)

// Findings are the discrepancies that the ledger has found, and how far it has looked.
type Findings struct{ conn *Conn }

// Findings returns the discrepancies that the ledger has found.
func (c *Conn) Findings() Findings { return Findings{c} }

// Put keeps f, and reports whether it is new: of a run there is one finding.
func (fs Findings) Put(ctx context.Context, f *outcome.Finding) (isNew bool, err error) {
	_, err = kindFinding.On(fs.conn.Conn).Write(ctx, findingKey(f), storedFinding{*f}, 0)
	if errors.Is(err, job.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// Heal keeps f, which has healed, in the place of what is kept about its run, and for as
// long as that was new.
func (fs Findings) Heal(ctx context.Context, f *outcome.Finding) error {
	_, err := kindFinding.On(fs.conn.Conn).Put(ctx, findingKey(f), storedFinding{*f})
	return err
}

// Watch follows the findings about all jobs; see [Jobs.Watch]. Entries are
// read by [DecodeFinding]; those without a value have been kept for long enough.
func (fs Findings) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return fs.conn.Watch(ctx, bus.BucketLedger, []string{findingPrefix + ">"}, false, 0)
}

// All returns the findings that the bucket has.
func (fs Findings) All(ctx context.Context) ([]outcome.Finding, error) {
	list, err := kindFinding.On(fs.conn.Conn).List(ctx)
	if err != nil {
		return nil, fmt.Errorf("read findings of the ledger: %w", err)
	}
	all := make([]outcome.Finding, len(list))
	for i, f := range list {
		all[i] = f.Value.Finding
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
	a, _, err := kindAudited.On(fs.conn.Conn).Read(ctx, the)
	if errors.Is(err, job.ErrNotFound) {
		return Audited{}, nil
	}
	return a, err
}

// PutAudited keeps how far the audit has come.
func (fs Findings) PutAudited(ctx context.Context, a Audited) error {
	_, err := kindAudited.On(fs.conn.Conn).Put(ctx, the, a)
	return err
}
