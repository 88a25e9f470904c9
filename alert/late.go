package alert

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/estimate"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/journal"
)

// maxScanned bounds how many live runs of a group one check considers on one stream, the oldest first.
const maxScanned = 5000

// ofLateRuns reports whether a rule is about runs that do not begin or end in time.
func ofLateRuns(c *alerting.Condition) bool { return c.StartsWithin > 0 || c.EndsWithin > 0 }

// checkLate finds the live runs of a rule that have not begun, or ended, in time. The
// live runs are the triggers that are not acknowledged, and the deferred items.
func (s *session) checkLate(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	// consider opens an incident for a live run that is late by the rule, unless it has one.
	consider := func(name job.Name, id job.RunID, attempt int, told bool) error {
		fired := id.Time()
		within := r.When.EndsWithin.Std()
		if r.When.StartsWithin > 0 {
			within = r.When.StartsWithin.Std()
			// Which runs have begun is known from the last check on.
			if _, begun := s.begun[id]; begun || told || attempt > 1 || !fired.Add(within).After(s.lateFrom) {
				return nil
			}
		}
		isLate := !fired.Add(within).After(now)
		if !isLate && !r.When.Predict || !r.Match.Selects(name, jobs.labelsOf) {
			return nil
		}
		subject, group := subjectOf(r, name)
		if inc := s.mirror.incident(keyIncident + alerting.HashOf(r.Alert, subject)); inc != nil && slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool { return a.Job == name && a.RunID >= id }) {
			return nil // it is known, or was over at the last check
		}
		summary := alerting.Say("run_not_ended", "job", string(name), "limit", job.Duration(within).String())
		if !isLate {
			expected, ok := s.expectedEnd(r, name, id, now)
			if !ok || s.ends.of(id, attempt) || !expected.End.After(fired.Add(within)) {
				return nil
			}
			summary = alerting.Say("run_will_end_late", "job", string(name), "limit", job.Duration(within).String(),
				"usual", job.Duration(expected.Usual).String(), "expected", instant(expected.End))
		}
		f := &alerting.Finding{
			Rule: r, Subject: subject, Group: group, At: now, Summary: summary,
			Job: alerting.Affected{Job: name, RunID: id, Status: job.StatusPending, At: now},
		}
		if r.When.StartsWithin > 0 {
			f.Summary = alerting.Say("run_not_begun", "job", string(name), "limit", job.Duration(within).String())
		}
		f.Job.Say(alerting.Say("fired_at", "fire_time", instant(fired)))
		return s.found(ctx, f)
	}
	groups := slices.Clone(r.Match.Groups)
	for _, name := range r.Match.Jobs {
		groups = append(groups, name.Group())
	}
	if len(groups) == 0 {
		groups = []string{"*"}
	}
	slices.Sort(groups)
	var filters []string
	for _, group := range slices.Compact(groups) {
		filters = append(filters, "trig.*.*."+group)
	}
	filters = append(filters, bus.SubjectAllDeferred)
	var errs []error
	for _, stream := range s.conn.Trigs() {
		for _, filter := range filters {
			err := s.scanRuns(ctx, stream, filter, consider)
			if err := ignoreAway(err); err != nil {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// expectedEnd estimates when a live run ends. ok is false while too few runs of its job are known, or if the
// run may have begun before this session, which then does not know when.
func (s *session) expectedEnd(r *alerting.Rule, name job.Name, id job.RunID, now time.Time) (e estimate.Expected, ok bool) {
	began, known := s.begun[id]
	if !known && !id.Time().After(s.lateFrom) {
		return e, false
	}
	var took []time.Duration
	for _, ms := range s.tallyOf(r, name).Took {
		took = append(took, time.Duration(ms)*time.Millisecond)
	}
	return estimate.End(took, began, now)
}

// scanRuns calls consider for the live runs of a stream on subjects that match filter.
func (s *session) scanRuns(ctx context.Context, stream, filter string, consider func(name job.Name, id job.RunID, attempt int, told bool) error) error {
	var bad error
	scanned := 0
	err := s.conn.Scan(ctx, stream, filter, func(m *jet.Stored) bool {
		for _, single := range singly(m) {
			scanned++
			if name, id, attempt, told := runOf(single); id != "" && bad == nil {
				bad = consider(name, id, attempt, told)
			}
		}
		return bad == nil && scanned < maxScanned
	})
	return errors.Join(err, bad)
}

// singly returns a message, or, of a pack of triggers, each of them.
func singly(m *jet.Stored) []*jet.Stored {
	if !bus.IsPack(m.Header) {
		return []*jet.Stored{m}
	}
	packed, _ := bus.Unpack(m.Data) // what can be read of it
	all := make([]*jet.Stored, len(packed))
	for i, p := range packed {
		all[i] = &jet.Stored{Data: p.Data}
	}
	return all
}

// runOf returns the run that a trigger or a deferred item is about, if it is about one that
// lives and is neither a step of a workflow nor the test of a draft. told says that the run is done elsewhere and a
// ping has told that it has begun.
func runOf(m *jet.Stored) (name job.Name, id job.RunID, attempt int, told bool) {
	var t struct {
		RunID   job.RunID `json:"run_id"`
		Job     job.Name  `json:"job"`
		Attempt int       `json:"attempt"`
		Cause   job.Cause `json:"cause"`
	}
	data := m.Data
	if m.Header.Get(bus.HeaderMessage) == bus.MessageDeferred {
		d, err := journal.DecodeDeferred(m.Header, m.Data)
		if err != nil || len(d.Trigger) == 0 {
			return "", "", 0, false
		}
		data, told = d.Trigger, d.Reported != nil && !d.Reported.StartedAt.IsZero()
	}
	if json.Unmarshal(data, &t) != nil || !t.Cause.Counted() {
		return "", "", 0, false
	}
	return t.Job, t.RunID, t.Attempt, told
}

// judgeLate says what an outcome means for the incident of a late run: good ends it, neutral leaves it
// open. A run that ends without success is no longer late, but not well either: its incident has turned.
func judgeLate(when *alerting.Condition, o *outcome) (v verdict, summary alerting.Sentence) {
	switch {
	case o.Status == job.StatusSucceeded, o.Status == job.StatusRunning && when.StartsWithin > 0:
		return good, summary
	case o.Status.Final():
		return turned, alerting.Say("run_ended", "job", string(o.Job), "status", string(o.Status))
	}
	return neutral, summary
}
