package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Record lists what became of every fire that one commit of a shard decided. It is
// the last message of the commit's batch, so the ledger is atomic with the firing.
type Record struct {
	Shard    int       `json:"shard"`
	Epoch    uint64    `json:"epoch"`
	Commit   string    `json:"commit"`
	Node     string    `json:"node"`
	At       time.Time `json:"at"` // when the owner decided, by its clock
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome says what became of fires that share all of it. A commit decides
// hundreds of fires at one instant, so they are grouped.
type Outcome struct {
	// Status is pending, queued, skipped or missed. A workflow whose first step begins is running, and so is a run
	// elsewhere that a ping began. A run that ends
	// without an executor's word, or whose attempt turns out to have been the last, has any final status.
	Status job.Status `json:"status"`
	Cause  job.Cause  `json:"cause"`            // why there was to be a run
	Reason string     `json:"reason,omitempty"` // why there is none, why it is late, or what it waits for
	// Attempt is which attempt of the run it is about. Absent is the first.
	Attempt int `json:"attempt,omitempty"`
	// FireTime is the fire's instant. Where Count is above 1 the outcome is that of
	// Count fires, from FireTime to Until.
	FireTime time.Time `json:"fire_time"`
	Until    time.Time `json:"until,omitzero"`
	Count    int       `json:"count,omitempty"`
	// Jobs are the jobs whose fire it was, each as group/name@version.
	Jobs []string `json:"jobs"`
	// RunIDs are the runs, in the order of Jobs, where they do not follow from job,
	// fire time and cause.
	RunIDs []job.RunID `json:"run_ids,omitempty"`
	// By is who asked, for runs that no schedule asked for, ParentRun the run after which
	// they run.
	By        string    `json:"by,omitempty"`
	ParentRun job.RunID `json:"parent_run_id,omitempty"`
	// Step is the step of a workflow that the run does; the workflow's run is ParentRun.
	Step string `json:"step,omitempty"`
	// Wait is what the step has begun to wait for, if it is queued, with the approvals that were given so far. If it has
	// ended, Wait is there only to tell the last of them.
	Wait *runlog.Wait `json:"wait,omitempty"`
	// Hold is of a workflow's run that was put on hold, or resumed.
	Hold *runlog.Hold `json:"hold,omitempty"`
	// Total is in how many pieces the run is done, 0 when it is not.
	Total int `json:"broadcast_total,omitempty"`
	// Result is what a step returns that somebody has resolved, or the run of a workflow.
	Result json.RawMessage `json:"result,omitempty"`
	// Retry says that only the attempt has ended with Status: another one follows.
	Retry bool `json:"retry,omitempty"`
	// Ping is what a ping told of a run that is done elsewhere: that it runs, or how it ended. A line that
	// says so without a ping is the owner's own.
	Ping *runlog.Ping `json:"ping,omitempty"`
}

// JobVersion returns the text for [Outcome.Jobs].
func JobVersion(name job.Name, version int) string {
	return string(name) + "@" + strconv.Itoa(version)
}

// Decided is one line of a record: one run, or the reason why there is none.
type Decided struct {
	RunID    job.RunID
	Job      job.Name
	Version  int
	Attempt  int // at least 1
	Status   job.Status
	Cause    job.Cause
	Reason   string
	By       string
	Parent   job.RunID
	Step     string
	Wait     *runlog.Wait
	Hold     *runlog.Hold
	Result   json.RawMessage
	FireTime time.Time
	Until    time.Time // of several fires with one outcome, the last; else zero
	Count    int       // how many fires; at least 1
	Total    int       // pieces; 0 when it is not done in pieces
	Retry    bool      // the attempt has ended, and another one follows
	Ping     *runlog.Ping
}

// Each calls yield for each line of the record. Lines that are not of the shard's
// own making are impossible; a malformed one ends it with an *InvalidError.
func (r *Record) Each(yield func(Decided)) error {
	for _, o := range r.Outcomes {
		for i, ref := range o.Jobs {
			name, number, _ := strings.Cut(ref, "@")
			version, err := strconv.Atoi(number)
			if err != nil {
				return &job.InvalidError{Field: "outcomes.jobs", Reason: fmt.Sprintf("%q must be group/name@version", ref)}
			}
			d := Decided{
				Job: job.Name(name), Version: version, Status: o.Status, Cause: o.Cause, Reason: o.Reason, By: o.By,
				Attempt: max(o.Attempt, 1), Parent: o.ParentRun, Step: o.Step, Wait: o.Wait, Hold: o.Hold, Result: o.Result, Total: o.Total, Retry: o.Retry, Ping: o.Ping,
				FireTime: o.FireTime, Until: o.Until, Count: max(o.Count, 1),
			}
			if i < len(o.RunIDs) {
				d.RunID = o.RunIDs[i]
			} else {
				d.RunID = job.FireRunID(d.Job, o.FireTime.UnixMilli(), o.Cause)
			}
			yield(d)
		}
	}
	return nil
}

// Msg returns r as a message for TRIG.
func (r *Record) Msg() (*nats.Msg, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record of shard %d: %w", r.Shard, err)
	}
	return bus.NewMessage(bus.SubjectRecord(r.Shard), bus.MessageRecord, data), nil
}

// NoticeFor is how long a notice is kept for the alerter, should there be none.
const NoticeFor = 72 * time.Hour

// Notice returns the message that tells the alerter of r's outcomes that are final, or nil
// when there is none. The record itself is for one reader: what has read it is gone. It is
// read by [DecodeRecord].
func (r *Record) Notice() (*nats.Msg, error) {
	n := *r
	n.Outcomes = nil
	for _, o := range r.Outcomes {
		wanted := o.Wait != nil && o.Wait.Kind == runlog.WaitApproval
		if wanted || o.Status.Final() && o.Status != job.StatusSkipped && !o.Retry {
			o.Result = nil
			if o.Ping != nil {
				ping := *o.Ping
				ping.Output, o.Ping = "", &ping
			}
			n.Outcomes = append(n.Outcomes, o)
		}
	}
	if n.Outcomes == nil {
		return nil, nil //nolint:nilnil // as documented
	}
	m, err := n.Msg()
	if err != nil {
		return nil, err
	}
	m.Subject = bus.SubjectNotice(r.Shard)
	m.Header.Set(bus.HeaderTTL, NoticeFor.String())
	return m, nil
}

// DecodeRecord is the inverse of [Record.Msg]. Its error is an *InvalidError.
func DecodeRecord(header nats.Header, data []byte) (*Record, error) {
	r := &Record{}
	return r, bus.Decode(header, bus.MessageRecord, data, r)
}
