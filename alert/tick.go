package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// maxScanned bounds how many live runs one look at a group considers on one stream, the oldest first.
const maxScanned = 5000

// tick finds what does not come as a message: runs that are late, groups without
// executor, streams and disks that are full, incidents whose rule is gone, reminders.
func (s *session) tick(ctx context.Context, jobs *jobsView) error {
	now := stamp(time.Now())
	var errs []error
	late := false
	for _, r := range s.mirror.active() {
		switch when := &r.When; {
		case when.StartsWithin > 0, when.EndsWithin > 0:
			late = true
			errs = append(errs, s.checkLate(ctx, r, now, jobs))
		case when.NoExecutor > 0:
			errs = append(errs, s.checkExecutors(ctx, r, now, jobs))
		case when.StreamFull > 0:
			errs = append(errs, s.checkStreams(ctx, r, now))
		case when.StoreFull > 0:
			errs = append(errs, s.checkStore(ctx, r, now))
		case when.ShardsParked:
			errs = append(errs, s.lookParked(ctx, r, now))
		case when.ClockWrong:
			errs = append(errs, s.lookClocks(ctx, r, now))
		case when.OverBudget:
			errs = append(errs, s.lookBudgets(ctx, r, now))
		case when.TargetMissed:
			errs = append(errs, s.lookTargets(ctx, r, now, jobs))
		}
	}
	errs = append(errs, s.passEvents(ctx), s.lookDead(ctx), s.closeOrphans(ctx, now), s.remind(ctx, now))
	for _, err := range errs {
		if err = ignoreAway(err); err != nil {
			return err
		}
	}
	if errors.Join(errs...) == nil && late {
		s.place.Looked, s.moved = now, true
	}
	return nil
}

// passEvents moves the positions on streams of events on while no rule is about runs, since
// nothing is read then, and they are trimmed no further than to the positions. It moves to where
// they ended at the look before, so that a rule that was just made finds what came after it.
func (s *session) passEvents(ctx context.Context) error {
	if len(s.mirror.ofRuns()) > 0 {
		clear(s.unread)
		return nil
	}
	var errs []error
	for _, name := range s.conn.Evts() {
		last, err := s.conn.LastSeq(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if s.unread[name] > s.place.Of(name) {
			s.place.Set(name, s.unread[name])
			s.moved = true
		}
		s.unread[name] = last
	}
	return errors.Join(errs...)
}

// checkLate finds the live runs of a rule that have not begun, or ended, in time. The
// triggers that nobody has acknowledged and the deferred items are the live runs.
func (s *session) checkLate(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	consider := func(name job.Name, id job.RunID, attempt int) error {
		fired := id.Time()
		within := r.When.EndsWithin.Std()
		if r.When.StartsWithin > 0 {
			within = r.When.StartsWithin.Std()
			// Which runs have begun is known from the last look on.
			if _, begun := s.begun[id]; begun || attempt > 1 || !fired.Add(within).After(s.lastSeen) {
				return nil
			}
		}
		if fired.Add(within).After(now) || !r.Match.Selects(name, jobs.labelsOf) {
			return nil
		}
		subject, group := subjectOf(r, name)
		if inc := s.mirror.incident(keyIncident + alerting.HashOf(r.Alert, subject)); inc != nil && slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool { return a.Job == name && a.RunID >= id }) {
			return nil // it is known, or was over when it was looked at last
		}
		f := &alerting.Finding{
			Rule: r, Subject: subject, Group: group, At: now, Summary: alerting.Say("run_not_ended", "job", string(name), "limit", job.Duration(within).String()),
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

// scanRuns calls consider for the live runs of a stream on subjects that match filter.
func (s *session) scanRuns(ctx context.Context, stream, filter string, consider func(job.Name, job.RunID, int) error) error {
	var bad error
	scanned := 0
	err := s.conn.Scan(ctx, stream, filter, func(m *jet.Stored) bool {
		scanned++
		name, id, attempt := runOf(m)
		if id != "" {
			bad = consider(name, id, attempt)
		}
		return bad == nil && scanned < maxScanned
	})
	return errors.Join(err, bad)
}

// runOf returns the run that a trigger or a deferred item is about, if it is about one that
// lives and is no test of a draft.
func runOf(m *jet.Stored) (name job.Name, id job.RunID, attempt int) {
	var t struct {
		RunID   job.RunID `json:"run_id"`
		Job     job.Name  `json:"job"`
		Attempt int       `json:"attempt"`
		Cause   job.Cause `json:"cause"`
	}
	data := m.Data
	if m.Header.Get(bus.HeaderMessage) == bus.MessageDeferred {
		d, err := bus.DecodeDeferred(m.Header, m.Data)
		if err != nil || len(d.Trigger) == 0 {
			return "", "", 0
		}
		data = d.Trigger
	}
	if json.Unmarshal(data, &t) != nil || t.Cause == job.CauseTest {
		return "", "", 0
	}
	return t.Job, t.RunID, t.Attempt
}

// checkExecutors finds groups that have jobs, and no instance to run them.
func (s *session) checkExecutors(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	instances, err := s.conn.Instances().List(ctx)
	if err != nil {
		return err
	}
	manned := map[string]bool{}
	for i := range instances {
		if instances[i].State == fleet.InstanceOnline || instances[i].State == fleet.InstanceIncompatible {
			manned[instances[i].Group] = true
		}
	}
	var pauses map[string]job.Pause // read once a group has nobody, which is rare
	for _, group := range jobs.groups() {
		if !r.Match.SelectsGroup(group) {
			continue
		}
		if manned[group] {
			delete(s.lonely, group)
			if err := s.over(ctx, r, "group "+group, now, alerting.Say("executor_back", "group", group)); err != nil {
				return err
			}
			continue
		}
		if pauses == nil {
			if pauses, err = s.conn.Pauses().OfGroups(ctx); err != nil {
				return err
			}
		}
		if pauses[group].At(now).Paused { // it needs nobody
			delete(s.lonely, group)
			continue
		}
		since, known := s.lonely[group]
		if !known {
			s.lonely[group], since = now, now
		}
		if now.Sub(since) >= r.When.NoExecutor.Std() {
			if err := s.stands(ctx, r, "group "+group, group, now, alerting.Say("no_executor", "group", group)); err != nil {
				return err
			}
		}
	}
	return nil
}

// hysteresis is the distance below its bound, in percent, at which a fill level ends an incident.
const hysteresis = 5

// checkStreams finds streams that are nearly full, of those that take nothing more when they
// are. One has to become clearly less full
// again until that is over.
func (s *session) checkStreams(ctx context.Context, r *alerting.Rule, now time.Time) error {
	var errs []error
	for _, name := range append(s.conn.Trigs(), s.conn.Evts()...) {
		info, err := s.conn.Info(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if info.Config.MaxBytes <= 0 {
			continue
		}
		full := float64(info.State.Bytes) * 100 / float64(info.Config.MaxBytes)
		if err := s.filled(ctx, r, name, full, alerting.Say("stream_full", "stream", name, "percent", strconv.Itoa(int(full))), now); err != nil {
			return err
		}
	}
	if err := s.checkLines(ctx, r, now); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// checkLines checks how much of the stream of log lines the log store has not stored yet. How full
// the stream is does not matter: NATS removes its oldest lines, which are stored by then.
func (s *session) checkLines(ctx context.Context, r *alerting.Rule, now time.Time) error {
	stream, err := s.conn.JS.Stream(ctx, bus.StreamLog)
	if err != nil {
		return jet.Unavailable(err)
	}
	info := stream.CachedInfo()
	if info.Config.MaxBytes <= 0 || info.State.Msgs == 0 {
		return nil
	}
	waiting, err := s.conn.Ingest().LinesWaiting(ctx)
	if err != nil {
		return err
	}
	share := min(float64(waiting)/float64(info.State.Msgs), 1)
	full := share * float64(info.State.Bytes) * 100 / float64(info.Config.MaxBytes)
	return s.filled(ctx, r, bus.StreamLog, full, alerting.Say("lines_waiting", "stream", bus.StreamLog, "percent", strconv.Itoa(int(full))), now)
}

// filled opens or resolves the incident about a stream that is so many percent full.
func (s *session) filled(ctx context.Context, r *alerting.Rule, stream string, percent float64, found alerting.Sentence, now time.Time) error {
	full, subject := int(percent), "stream "+stream
	switch {
	case full >= r.When.StreamFull:
		return s.stands(ctx, r, subject, "", now, found)
	case full < r.When.StreamFull-hysteresis:
		return s.over(ctx, r, subject, now, alerting.Say("stream_level", "stream", stream, "percent", strconv.Itoa(full)))
	}
	return nil
}

// measuredWithin is how old a measurement of the log store may be. While the store is
// away nothing is known, and so nothing changes.
const measuredWithin = 10 * time.Minute

// checkStore finds that the disk of the log store is nearly full.
func (s *session) checkStore(ctx context.Context, r *alerting.Rule, now time.Time) error {
	disk, err := s.conn.Ingest().StoreDisk(ctx)
	if errors.Is(err, job.ErrNotFound) || err == nil && now.Sub(disk.At) > measuredWithin {
		return nil
	}
	if err != nil {
		return err
	}
	const subject = "disk of the log store"
	full := int(disk.Used())
	percent, free := strconv.Itoa(full), fmt.Sprintf("%.1f", float64(disk.Free)/1e9)
	switch {
	case full >= r.When.StoreFull:
		return s.stands(ctx, r, subject, "", now, alerting.Say("store_full", "percent", percent, "free", free))
	case full < r.When.StoreFull-hysteresis:
		return s.over(ctx, r, subject, now, alerting.Say("store_level", "percent", percent, "free", free))
	}
	return nil
}

// restateEvery is the least time between two changes of an incident whose figures change.
const restateEvery = time.Minute

// stands opens an incident about a state of things, or updates the figures of the one that is open.
func (s *session) stands(ctx context.Context, r *alerting.Rule, subject, group string, now time.Time, summary alerting.Sentence) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := s.mirror.incident(key); inc != nil && inc.State == alerting.Open {
		if next := *inc; now.Sub(inc.UpdatedAt) < restateEvery || !next.Restate(summary, now) {
			return nil
		}
		return s.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
			if inc == nil || inc.State != alerting.Open || !inc.Restate(summary, now) {
				return nil
			}
			return inc
		})
	}
	return s.found(ctx, &alerting.Finding{Rule: r, Subject: subject, Group: group, Summary: summary, At: now})
}

// over resolves an incident, if there is one.
func (s *session) over(ctx context.Context, r *alerting.Rule, subject string, now time.Time, why alerting.Sentence) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := s.mirror.incident(key); inc == nil || inc.State != alerting.Open {
		return nil
	}
	return s.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || inc.State != alerting.Open {
			return nil
		}
		inc.End(now, why)
		return inc
	})
}

// closeOrphans resolves the incidents whose rule is gone or disabled.
func (s *session) closeOrphans(ctx context.Context, now time.Time) error {
	rules := map[string]bool{}
	for _, r := range s.mirror.active() {
		rules[r.Alert] = true
	}
	open := 0
	orphans := s.mirror.find(func(inc *alerting.Incident) bool {
		if inc.State == alerting.Open {
			open++
		}
		return inc.State == alerting.Open && !rules[inc.Rule]
	})
	s.metrics.open.Set(float64(open))
	for _, orphan := range orphans {
		err := s.update(ctx, orphan.Key, func(inc *alerting.Incident) *alerting.Incident {
			if inc == nil || inc.State != alerting.Open {
				return nil
			}
			inc.End(now, alerting.Say("rule_gone", "rule", inc.Rule))
			return inc
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remind plans the messages that are to come again.
func (s *session) remind(ctx context.Context, now time.Time) error {
	due := func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil {
			return nil
		}
		next := *inc
		next.Deliveries = slices.Clone(inc.Deliveries)
		if !next.Remind(now) {
			return nil
		}
		return &next
	}
	for _, r := range s.mirror.find(func(inc *alerting.Incident) bool { return due(inc) != nil }) {
		if err := s.update(ctx, r.Key, due); err != nil {
			return err
		}
	}
	return nil
}

// instant writes an instant as the parameter of a sentence.
func instant(at time.Time) string { return at.UTC().Format(time.RFC3339) }
