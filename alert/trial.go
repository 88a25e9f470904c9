package alert

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Ran is how a run went that has ended, as the history has it.
type Ran struct {
	RunID   job.RunID
	Job     job.Name
	Status  job.Status // final
	Message string
	Unasked bool // pings report it, and no fire asked for it
	// StartedAt is zero of a run that did not begin.
	FireTime, StartedAt, FinishedAt time.Time
}

// Try returns the incidents that a rule would have opened, had it been there when runs
// ended, in the order in which they open. labels returns those that a job asks of its
// instances. The error is an *InvalidError: the rule is wrong, or is not about runs, of whose past
// nothing is known.
func Try(r alerting.Rule, runs []Ran, labels func(job.Name) job.Labels) ([]*alerting.Incident, error) {
	r = r.WithDefaults()
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if !r.When.OfRuns() {
		return nil, job.Invalid("when", "must be about runs: a trial reads their history, which has nothing else")
	}
	var steps []step
	for i := range runs {
		if r.Match.Selects(runs[i].Job, labels) {
			steps = append(steps, stepsOf(&r.When, &runs[i])...)
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.RunID, b.RunID)) })
	t := trial{rule: &r, tallies: map[job.Name]*tally{}, newest: map[string]*alerting.Incident{}}
	for i := range steps {
		steps[i].source, steps[i].seq = fromEvents, uint64(i)+1
		t.apply(&steps[i])
	}
	return t.all, nil
}

// step is an outcome, or the instant at which a run is late.
type step struct {
	outcome
	late alerting.Sentence // what is wrong
}

// stepsOf returns the steps of a run that a rule would evaluate.
func stepsOf(when *alerting.Condition, r *Ran) []step {
	outcomeAt := func(status job.Status, at time.Time) step {
		o := outcome{RunID: r.RunID, Job: r.Job, Status: status, Message: clip.Text(r.Message, alerting.MaxMessage), At: at, unasked: r.Unasked}
		if !r.StartedAt.IsZero() && r.FinishedAt.After(r.StartedAt) {
			o.Took = r.FinishedAt.Sub(r.StartedAt)
		}
		return step{outcome: o}
	}
	end := outcomeAt(r.Status, r.FinishedAt)
	if end.At.IsZero() {
		end.At = r.FireTime // of a run that there was not
	}
	isNone := r.Status == job.StatusSkipped || r.Status == job.StatusMissed
	var steps []step
	lateAfter := func(limit job.Duration, at time.Time, late alerting.Sentence) {
		if due := r.FireTime.Add(limit.Std()); !isNone && at.After(due) {
			s := outcomeAt(job.StatusRunning, due)
			s.late = late
			steps = append(steps, s)
		}
	}
	beganLate := alerting.Say("run_began_late", "job", string(r.Job), "limit", when.StartsWithin.String())
	switch {
	case when.StartsWithin > 0 && r.StartedAt.IsZero():
		lateAfter(when.StartsWithin, end.At, beganLate)
	case when.StartsWithin > 0:
		lateAfter(when.StartsWithin, r.StartedAt, beganLate)
		return append(steps, outcomeAt(job.StatusRunning, r.StartedAt))
	case when.EndsWithin > 0:
		lateAfter(when.EndsWithin, end.At, alerting.Say("run_ended_late", "job", string(r.Job), "limit", when.EndsWithin.String()))
	}
	return append(steps, end)
}

// trial is what a rule would remember.
type trial struct {
	rule    *alerting.Rule
	tallies map[job.Name]*tally
	newest  map[string]*alerting.Incident // by subject
	all     []*alerting.Incident
}

func (t *trial) apply(s *step) {
	v, summary := wrong, s.late
	seen := t.tallyOf(s.Job)
	if summary.Code == "" {
		v, summary = judge(t.rule, &s.outcome, seen)
	}
	subject, _ := subjectOf(t.rule, s.Job)
	inc := t.newest[subject]
	late := t.rule.When.StartsWithin > 0 || t.rule.When.EndsWithin > 0
	switch {
	case v == wrong:
		f := s.finding(t.rule, seen, summary)
		if inc != nil && inc.State == alerting.Open {
			inc.Add(f)
			return
		}
		inc = alerting.NewIncident(f)
		t.newest[subject] = inc
		t.all = append(t.all, inc)
	case v == turned && inc != nil && s.turns(inc):
		s.turn(inc, summary)
	case v == good && inc != nil && s.cures(inc, late):
		s.cure(inc)
	}
}

// tallyOf returns what the rule remembers of a job, nil when it needs to remember nothing.
func (t *trial) tallyOf(name job.Name) *tally {
	if !t.rule.When.Remembers() {
		return nil
	}
	if t.tallies[name] == nil {
		t.tallies[name] = &tally{Rule: t.rule.Alert, Job: name, Seen: map[alerting.Source]uint64{}}
	}
	return t.tallies[name]
}
