package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/workflow"
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
	MaxQueue     = 100_000
	MaxAlive     = 10_000
	// MaxOverlapKey bounds [Overlap.Key], in bytes.
	MaxOverlapKey = 256
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
	// Key names parameters, such as "${params.customer}". With it, Limit and Queue hold for the runs with the same
	// value of it. Runs whose parameters have no value for it count as having the same.
	Key string `json:"key,omitempty"`
	// Total is how many runs may be alive at once whatever their keys. Only with Key; 0 is no limit.
	Total int `json:"total,omitempty"`
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
	return append(errs, o.validateKey()...)
}

// validateKey reports what is wrong with Key and Total.
func (o Overlap) validateKey() (errs []error) {
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, Invalid("overlap."+field, format, args...))
		}
	}
	limit := o.withDefaults().Limit
	refuse(o.Total != 0 && o.Key == "", "total", "goes only with key; without one, limit holds for all runs")
	refuse(o.Total != 0 && o.Policy == OverlapReplace, "total", "does not go with the policy replace")
	refuse(o.Total != 0 && (o.Total < limit || o.Total > MaxAlive), "total", "%d must be between limit, which is %d, and %d", o.Total, limit, MaxAlive)
	if o.Key == "" {
		return errs
	}
	refuse(o.Policy == OverlapAllow || o.Policy == "", "key", "goes only with the policies queue, skip and replace")
	if len(o.Key) > MaxOverlapKey {
		return append(errs, Invalid("overlap.key", "has %d bytes; at most %d are allowed", len(o.Key), MaxOverlapKey))
	}
	names := 0
	if _, err := Expand(o.Key, func(name string) (string, error) {
		names++
		return "", checkKeyName(name)
	}); err != nil {
		return append(errs, Invalid("overlap.key", "%s", reasonOf(err)))
	}
	refuse(names == 0, "key", "%q must name a parameter, such as ${params.customer}; else all runs have the same key", clip.Text(o.Key, maxQuoted))
	return errs
}

// checkKeyName returns an error unless a key may have ${name}.
func checkKeyName(name string) error {
	r, err := workflow.ParseReference("${" + name + "}")
	if err == nil && r.Root == workflow.Params {
		return nil
	}
	if rest, ofParams := strings.CutPrefix(name, string(workflow.Params)); err != nil && ofParams && (rest == "" || strings.ContainsAny(rest[:1], ".[?")) {
		return Invalid("", "%s", err)
	}
	return Invalid("", "names ${%s}; a key may name only parameters, such as ${params.customer}", clip.Text(name, maxQuoted))
}
