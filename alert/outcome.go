package alert

import (
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// The sources.
const (
	fromEvents  alerting.Source = "evt"
	fromNotices alerting.Source = "note"
	fromLedger  alerting.Source = "ledger"
	fromDead    alerting.Source = "dead"
)

// maxLines is more than a record, or a pack of ends, has lines: what it says has numbers of its own, so that
// each line counts once.
const maxLines = 1 << 20

// outcome is the start or the end of a run.
type outcome struct {
	source  alerting.Source
	seq     uint64
	RunID   job.RunID
	Job     job.Name
	Attempt int        // at least 1
	Status  job.Status // running: it has begun
	Message string
	At      time.Time
	Took    time.Duration // of one that was executed
	late    bool          // of one that had its outcome before: a ping told of its end too late
	unasked bool          // of one that a ping reports, and no fire asked for
	away    bool          // of one that was missed: no server was there for some of its time
}

// turns reports whether an outcome is the bad end of the job's run in an incident.
func (o *outcome) turns(inc *alerting.Incident) bool {
	return inc.State == alerting.Open && inc.Seen[o.source] < o.seq && slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool {
		return a.Job == o.Job && a.RunID == o.RunID && !a.Over
	})
}

// turn changes an incident about a late run into one about the bad end of that run.
func (o *outcome) turn(inc *alerting.Incident, summary alerting.Sentence) {
	inc.Turn(&alerting.Finding{Summary: summary, At: stamp(o.At), Source: o.source, Seq: o.seq, Job: o.affected()})
}

// cures reports whether a good outcome ends the trouble of its job in an incident. Runs that fired
// before the bad one are ignored. A late run is cured by its own start or end, and one that no ping reported in
// time by its end.
func (o *outcome) cures(inc *alerting.Incident, late bool) bool {
	i := slices.IndexFunc(inc.Jobs, func(a alerting.Affected) bool { return a.Job == o.Job })
	if i < 0 || inc.State != alerting.Open || inc.Jobs[i].Over || inc.Seen[o.source] >= o.seq {
		return false
	}
	return o.RunID > inc.Jobs[i].RunID || late && o.RunID == inc.Jobs[i].RunID || o.curesItself(&inc.Jobs[i])
}

// cure applies an outcome to an incident whose job it cures. Without further bad jobs, the incident is
// resolved.
func (o *outcome) cure(inc *alerting.Incident) {
	inc.MarkSeen(o.source, o.seq)
	inc.UpdatedAt = o.At
	for i := range inc.Jobs {
		if inc.Jobs[i].Job == o.Job {
			inc.Jobs[i].Over, inc.Jobs[i].Status = true, o.Status
		}
	}
	if !slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool { return !a.Over }) && inc.More == 0 {
		why := alerting.Say("job_succeeded", "job", string(o.Job))
		if o.Status == job.StatusRunning {
			why = alerting.Say("job_started", "job", string(o.Job))
		}
		inc.End(o.At, why)
	}
}

// sourceOf names the source of what a partition's stream says. Each counts its own sequences.
func sourceOf(kind alerting.Source, stream string) alerting.Source {
	if _, partition, _ := bus.ParseStream(stream); partition > 0 {
		return kind + alerting.Source(strconv.Itoa(partition))
	}
	return kind
}

// fromEvent returns what an event tells, or nil when that is nothing: progress, an attempt
// after which another may follow, a piece of a run, a step of a workflow, the test of a draft.
func fromEvent(e *bus.Event, stream string, seq uint64) *outcome {
	if !e.Cause.Counted() {
		return nil
	}
	if e.Total > 0 {
		if e.Kind != bus.EventStarted {
			return nil
		}
	}
	o := &outcome{source: sourceOf(fromEvents, stream), seq: seq, RunID: e.RunID, Job: e.Job, Attempt: e.Attempt, At: e.At}
	switch {
	case e.Kind == bus.EventStarted:
		o.Status = job.StatusRunning
	case e.Kind == bus.EventFinished && !e.Retry:
		o.Status, o.Message = e.Status, clip.Text(e.Message, alerting.MaxMessage)
		if !e.StartedAt.IsZero() && e.FinishedAt.After(e.StartedAt) {
			o.Took = e.FinishedAt.Sub(e.StartedAt)
		}
	default:
		return nil
	}
	return o
}

// fromNotice returns what a notice tells.
func fromNotice(r *journal.Record, stream string, seq uint64) ([]outcome, error) {
	var list []outcome
	err := r.Each(func(d journal.Decided) {
		if !d.Cause.Counted() || !isNews(&d) {
			return
		}
		at := r.At
		if d.Count > 1 {
			d.Reason = reason.Join(d.Reason, reason.FiresUntil.With(d.Count, d.Until))
		}
		o := outcome{
			source: sourceOf(fromNotices, stream), seq: seq*maxLines + uint64(len(list)),
			RunID: d.RunID, Job: d.Job, Attempt: d.Attempt, Status: d.Status, Message: clip.Text(d.Reason, alerting.MaxMessage), At: at,
		}
		o.takeLine(&d)
		list = append(list, o)
	})
	return list, err
}

// affected returns the job of an outcome as an incident has it.
func (o *outcome) affected() alerting.Affected {
	return alerting.Affected{Job: o.Job, RunID: o.RunID, Status: o.Status, Message: o.Message, At: o.At}
}

// finding returns what a rule has found by an outcome that is wrong. t is as for judge.
func (o *outcome) finding(r *alerting.Rule, t *tally, summary alerting.Sentence) *alerting.Finding {
	f := &alerting.Finding{Rule: r, Summary: summary, At: stamp(o.At), Source: o.source, Seq: o.seq, Job: o.affected()}
	f.Subject, f.Group = subjectOf(r, o.Job)
	if t != nil {
		f.Row = t.Bad
	}
	return f
}

// tally is what a rule remembers of a job.
type tally struct {
	Rule string                     `json:"alert"`
	Job  job.Name                   `json:"job"`
	Seen map[alerting.Source]uint64 `json:"seen"`
	Bad  int                        `json:"bad,omitempty"`  // ends in a row
	Last job.RunID                  `json:"last,omitempty"` // of these ends, the run that fired last
	// Unasked are the instants of the last runs that no fire asked for, in Unix ms.
	Unasked []int64 `json:"unasked,omitempty"`
	Took    []int64 `json:"took,omitempty"` // of the last runs that succeeded, in ms
	dirty   bool
}

// verdict is what a rule makes of an outcome.
type verdict int

const (
	neutral verdict = iota
	good
	wrong
	turned // what is wrong already has ended badly
)

// judge returns what a rule makes of an outcome, and what is wrong. t is the tally of a rule
// that needs one, and takes the outcome in; else nil.
func judge(r *alerting.Rule, o *outcome, t *tally) (v verdict, summary alerting.Sentence) {
	if t != nil {
		if t.Seen[o.source] >= o.seq {
			return neutral, summary
		}
		t.Seen[o.source], t.dirty = o.seq, true
	}
	switch when := &r.When; {
	case len(when.Ends) > 0:
		return judgeEnd(when, o, t)
	case when.Unasked > 0:
		return judgeUnasked(when, o, t)
	case when.Slower > 0:
		return judgeSpeed(when, o, t)
	case when.StartsWithin > 0, when.EndsWithin > 0: // what is late the alerter looks for by itself
		if t != nil {
			t.remember(o)
		}
		return judgeLate(when, o)
	}
	return neutral, summary
}
