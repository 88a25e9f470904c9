package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// OverlapPolicy says what becomes of a run that is wanted while others of its job are
// alive, in the whole cluster.
type OverlapPolicy string

// The overlap policies. XXL-JOB's block strategies "serial", "discard later" and
// "cover early" are queue, skip and replace.
const (
	OverlapAllow   OverlapPolicy = "allow"   // it runs beside them
	OverlapQueue   OverlapPolicy = "queue"   // it waits until they have ended
	OverlapSkip    OverlapPolicy = "skip"    // it is recorded as skipped
	OverlapReplace OverlapPolicy = "replace" // they are cancelled, then it runs
)

// WhenFull says which run is skipped when a queue has no room.
type WhenFull string

// What is skipped when a queue is full.
const (
	SkipNewest WhenFull = "skip_newest" // the one that would join
	SkipOldest WhenFull = "skip_oldest" // the one that has waited longest
)

// Defaults and bounds of overlap.
const (
	DefaultQueue = 100
	MaxQueue     = 10_000
	MaxAlive     = 10_000
)

// Overlap is a job's rule for runs that are wanted while others are alive. A run is
// alive from its trigger to its final status, also while it waits for a retry. In
// JSON it may also be written as the policy alone: "skip".
type Overlap struct {
	Policy OverlapPolicy `json:"policy,omitempty"`
	// Limit is how many runs may be alive at once. Defaults to 1, for allow to no limit.
	Limit int `json:"limit,omitempty"`
	// Queue is how many runs may wait. Only for queue; defaults to [DefaultQueue].
	Queue int `json:"queue,omitempty"`
	// WhenFull is for queue only. Defaults to skip_newest.
	WhenFull WhenFull `json:"when_full,omitempty"`
}

// UnmarshalJSON reads an object, or the policy alone as text.
func (o *Overlap) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &o.Policy)
	}
	type plain Overlap
	return decodeWithin("overlap", data, (*plain)(o))
}

// decodeWithin decodes the object in the given field of a document, strictly.
func decodeWithin(field string, data []byte, into any) error {
	err := decodeStrict(data, into)
	if bad, ok := errors.AsType[*InvalidError](err); ok {
		return &InvalidError{Field: strings.TrimSuffix(field+"."+bad.Field, "."), Reason: bad.Reason}
	}
	return err
}

func (o Overlap) withDefaults() Overlap {
	if o.Policy == "" {
		o.Policy = OverlapAllow
	}
	if o.Policy != OverlapAllow && o.Limit == 0 {
		o.Limit = 1
	}
	if o.Policy == OverlapQueue {
		if o.Queue == 0 {
			o.Queue = DefaultQueue
		}
		if o.WhenFull == "" {
			o.WhenFull = SkipNewest
		}
	}
	return o
}

// Unlimited reports whether any number of runs may be alive.
func (o Overlap) Unlimited() bool { return o.Limit == 0 }

func (o Overlap) validate() []error {
	var errs []error
	switch o.Policy {
	case OverlapAllow, OverlapQueue, OverlapSkip, OverlapReplace, "":
	default:
		errs = append(errs, Invalid("overlap.policy", "%q must be allow, queue, skip or replace", clip.Text(string(o.Policy), maxQuoted)))
	}
	if o.Limit < 0 || o.Limit > MaxAlive {
		errs = append(errs, Invalid("overlap.limit", "%d must be between 1 and %d", o.Limit, MaxAlive))
	}
	if o.Policy != OverlapQueue && (o.Queue != 0 || o.WhenFull != "") {
		errs = append(errs, Invalid("overlap", "has queue or when_full, which belong to the policy queue only"))
	}
	if o.Queue < 0 || o.Queue > MaxQueue {
		errs = append(errs, Invalid("overlap.queue", "%d must be between 1 and %d", o.Queue, MaxQueue))
	}
	switch o.WhenFull {
	case SkipNewest, SkipOldest, "":
	default:
		errs = append(errs, Invalid("overlap.when_full", "%q must be skip_newest or skip_oldest", clip.Text(string(o.WhenFull), maxQuoted)))
	}
	return errs
}
