package month

import (
	"strconv"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Head is the header of [Rows].
var Head = []string{"section", "name", "figure", "month", "before"}

// Rows returns a report as a table with a row for each figure: its section, what it is of, its name, and
// its value in the month and in the month before. What has no value is empty.
func Rows(m *api.MonthReport) [][]string {
	t := &table{}
	t.total(&m.Total, &m.Before)
	for i := range m.Reasons {
		r := &m.Reasons[i]
		t.counts(string(r.Status), string(r.Reason), "fires", r.Fires, r.Before)
	}
	for i := range m.Targets {
		r := &m.Targets[i]
		t.rates("target", string(r.Job), &r.Total, &r.Before)
		t.add("target", string(r.Job), "met", met(&r.Total), met(&r.Before))
		t.add("target", string(r.Job), "error_budget", budget(&r.Total), budget(&r.Before))
	}
	for i := range m.Failures {
		f := &m.Failures[i]
		t.counts("failure", f.Failure.Fingerprint, "attempts", f.Failure.Attempts, f.Before)
	}
	for i := range m.Slowest {
		r := &m.Slowest[i]
		t.spread("slowest", string(r.Job), "duration", r.Total.Duration, r.Before.Duration)
	}
	return t.rows
}

type table struct{ rows [][]string }

func (t *table) add(section, name, figure, month, before string) {
	t.rows = append(t.rows, []string{section, name, figure, month, before})
}

func (t *table) counts(section, name, figure string, month, before int) {
	t.add(section, name, figure, strconv.Itoa(month), strconv.Itoa(before))
}

func (t *table) total(month, before *runlog.ReportRow) {
	t.counts("total", "", "ended", month.Runs, before.Runs)
	for _, s := range job.Statuses {
		if s.Final() {
			t.counts("total", "", string(s), month.Statuses[s], before.Statuses[s])
		}
	}
	t.rates("total", "", month, before)
	t.spread("total", "", "fired_late", month.Committed, before.Committed)
	t.spread("total", "", "started_after", month.Started, before.Started)
	t.spread("total", "", "duration", month.Duration, before.Duration)
}

// rates adds the success rate, and of how many scheduled fires it is.
func (t *table) rates(section, name string, month, before *runlog.ReportRow) {
	t.counts(section, name, "scheduled", month.Scheduled, before.Scheduled)
	t.add(section, name, "success_rate", rate(month), rate(before))
}

func (t *table) spread(section, name, figure string, month, before runlog.Spread) {
	ms := func(s runlog.Spread, p func(runlog.Spread) int64) string {
		if s.Count == 0 {
			return ""
		}
		return strconv.FormatInt(p(s), 10)
	}
	for _, p := range []struct {
		name string
		of   func(runlog.Spread) int64
	}{
		{"p50_ms", func(s runlog.Spread) int64 { return s.P50.Milliseconds() }},
		{"p95_ms", func(s runlog.Spread) int64 { return s.P95.Milliseconds() }},
		{"p99_ms", func(s runlog.Spread) int64 { return s.P99.Milliseconds() }},
	} {
		t.add(section, name, figure+"_"+p.name, ms(month, p.of), ms(before, p.of))
	}
}

func rate(r *runlog.ReportRow) string {
	if r.SuccessRate == nil {
		return ""
	}
	return strconv.FormatFloat(*r.SuccessRate, 'f', 4, 64)
}

func met(r *runlog.ReportRow) string {
	if r.Target == nil {
		return ""
	}
	return strconv.FormatBool(r.Target.Met)
}

func budget(r *runlog.ReportRow) string {
	if r.Target == nil || r.Target.SuccessRate == 0 {
		return ""
	}
	return strconv.Itoa(r.Target.Budget)
}
