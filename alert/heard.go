package alert

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/journal"
)

// heardEvery is how often the state of shards is read for jobs that were pinged. Notices tell sooner of most.
const heardEvery = 10 * time.Minute

// heardJobs are the watched jobs that are known to have been pinged.
type heardJobs struct {
	known map[job.Name]bool
	read  time.Time // when shards were read last
}

// note adds the jobs whose pings are in a notice.
func (h *heardJobs) note(r *journal.Record) {
	_ = r.Each(func(d journal.Decided) { // who judges the notice reports its errors
		if d.Ping != nil {
			h.known[d.Job] = true
		}
	})
}

// checkHeard finds jobs that run elsewhere and were never pinged.
func (s *session) checkHeard(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	if jobs.watched == nil {
		return nil
	}
	silent := func() (names []job.Name) {
		for name, since := range jobs.watched {
			if !s.heard.known[name] && now.Sub(since) >= r.When.NeverHeard.Std() && r.Match.Selects(name, jobs.labelsOf) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if names := silent(); len(names) > 0 {
		if err := s.readHeard(ctx, names, now); err != nil {
			return err
		}
	}
	found, still := map[string]*alerting.Finding{}, map[string]bool{}
	for _, name := range silent() {
		subject, group := subjectOf(r, name)
		if found[subject] == nil {
			found[subject], still[subject] = &alerting.Finding{Rule: r, Subject: subject, Group: group, At: now}, true
		}
		a := alerting.Affected{Job: name, At: now}
		a.Say(alerting.Say("never_heard", "job", string(name), "saved", instant(jobs.watched[name])))
		found[subject].Jobs = append(found[subject].Jobs, a)
	}
	if err := s.standing(ctx, found); err != nil {
		return err
	}
	return s.overExcept(ctx, r, still, now, alerting.Say("all_well"))
}

// readHeard reads from the shards of jobs which jobs were pinged, unless it has done so lately.
func (s *session) readHeard(ctx context.Context, names []job.Name, now time.Time) error {
	if now.Sub(s.heard.read) < heardEvery {
		return nil
	}
	heard, err := cluster.PingsOf(s.conn).Heard(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range heard {
		s.heard.known[name] = true
	}
	s.heard.read = now
	return nil
}
