package webapi

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// yesterday is a day of which all reports are kept.
func yesterday() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour) }

// writeReported has two runs of x fail and one succeed, and one of orders/y; and one
// wait.
func (w *world) writeReported(day time.Time) {
	w.Helper()
	var all []logstore.Update
	for i, status := range []job.Status{job.StatusFailed, job.StatusSucceeded, job.StatusFailed} {
		x := begun("billing/x", day.Add(time.Duration(i)*time.Hour))
		end := finished(x, status, 0, day.Add(time.Duration(i)*time.Hour+4*time.Second))
		end.StartedAt, end.Message = day.Add(time.Duration(i)*time.Hour+2*time.Second), "code 7"
		all = append(all, x, end)
	}
	y := begun("orders/y", day.Add(time.Hour))
	end := finished(y, job.StatusSucceeded, 0, day.Add(2*time.Hour))
	end.StartedAt = day.Add(time.Hour)
	w.history(append(all, y, end, begun("orders/z", day))...)
}

func TestTheOverviewHasItAllInOneCall(t *testing.T) {
	w := newWorld(t)
	day := yesterday()
	w.writeReported(day)
	q := "?from=" + day.Format(time.RFC3339) + "&to=" + day.Add(24*time.Hour).Format(time.RFC3339)
	got, _ := want[Overview](w, http.StatusOK, "GET", "/api/v1/overview"+q, nil)
	if got.Total.Runs != 4 || got.Total.Failed() != 2 || got.Alive[job.StatusPending] != 1 || got.Total.Duration.Count != 4 {
		t.Errorf("the total is %+v, and alive are %v", got.Total, got.Alive)
	}
	if len(got.Trend) != 3 || got.Trend[1].Runs != 2 || !got.Trend[1].At.Equal(day.Add(time.Hour)) {
		t.Errorf("the trend is %+v; want three hours", got.Trend)
	}
	if len(got.Slowest) != 2 || got.Slowest[0].Job != "orders/y" || len(got.Failing) != 1 || got.Failing[0].Job != "billing/x" {
		t.Errorf("the slowest are %+v, the failing %+v", got.Slowest, got.Failing)
	}
	all, _ := want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+q+"&by=job&order=duration", nil)
	if diff := cmp.Diff(all.Items, got.Slowest); diff != "" || got.Slowest[0].Started.Count != 1 {
		t.Errorf("the slowest are not told as a report of jobs tells them (-report +overview):\n%s", diff)
	}
	if diff := cmp.Diff(all.Items[1:], got.Failing); diff != "" {
		t.Errorf("those that fail are not told as a report of jobs tells them (-report +overview):\n%s", diff)
	}
	if len(got.Busiest) != 3 || got.Busiest[0].Runs != 2 || len(got.Failures) != 1 || got.Failures[0].Attempts != 2 || got.Failures[0].Fingerprint != "code #" {
		t.Errorf("the busiest are %+v, the failures %+v", got.Busiest, got.Failures)
	}
	empty, _ := want[Overview](w, http.StatusOK, "GET", "/api/v1/overview?group=none", nil)
	if empty.Total.Runs != 0 || len(empty.Trend)+len(empty.Alive) != 0 {
		t.Errorf("of a group without runs there is %+v", empty)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/overview"+q+"&group=A", nil, `"field":"group"`)
}

func TestReportsAreByWhatIsAsked(t *testing.T) {
	w := newWorld(t)
	day := yesterday()
	w.writeReported(day)
	q := "?from=" + day.Format(time.RFC3339) + "&to=" + day.Add(24*time.Hour).Format(time.RFC3339)
	rows := func(parameters string, expected ...string) {
		t.Helper()
		got, _ := want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+q+parameters, nil)
		var rows []string
		for _, r := range got.Items {
			counts, err := json.Marshal(r.Statuses)
			w.check(err)
			rows = append(rows, r.Group+" "+string(r.Job)+" "+string(counts))
		}
		if d := cmp.Diff(expected, rows); d != "" {
			t.Errorf("%s: %s", parameters, d)
		}
	}
	rows("&by=group&by=job", `billing billing/x {"failed":2,"succeeded":1}`, `orders orders/y {"succeeded":1}`)
	rows("&by=group&order=duration", `orders  {"succeeded":1}`, `billing  {"failed":2,"succeeded":1}`)
	rows("&step=hour&job=billing/x", `  {"failed":1}`, `  {"succeeded":1}`, `  {"failed":1}`)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+q+"&by=version", nil, `"field":"by"`)

	failures, _ := want[FailureList](w, http.StatusOK, "GET", "/api/v1/reports/failures"+q+"&job=billing/x", nil)
	if len(failures.Items) != 1 || failures.Items[0].Attempts != 2 {
		t.Errorf("the failures are %+v", failures.Items)
	}
	failures, _ = want[FailureList](w, http.StatusOK, "GET", "/api/v1/reports/failures"+q+"&error=code+%23&parts=24", nil)
	if len(failures.Items) != 1 || failures.Items[0].JobCount != 1 || len(failures.Items[0].Counts) != 24 {
		t.Fatalf("of one way to fail there is %+v", failures.Items)
	}
	alike, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs"+q+"&error=code+%23", nil)
	if len(alike.Items) != 2 {
		t.Errorf("runs that failed alike are %+v", alike.Items)
	}
	for _, r := range alike.Items {
		if one, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(r.RunID), nil); one.Error != "code #" {
			t.Errorf("run %s failed with %q", r.RunID, one.Error)
		}
	}
	for _, wrong := range []string{"parts=201", "parts=0"} {
		w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/failures"+q+"&"+wrong, nil, "parts")
	}
	want[struct{}](w, http.StatusNoContent, "POST", "/api/v1/reports/days/"+day.Format(time.DateOnly)+"/repair", nil)
	rows("&by=group", `billing  {"failed":2,"succeeded":1}`, `orders  {"succeeded":1}`)
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/reports/days/today/repair", nil, `"field":"day"`)
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/reports/days/2020-01-01/repair", nil, `"field":"day"`)
}

func TestReportsOfJobsSayWhetherTargetsAreMet(t *testing.T) {
	w := newWorld(t)
	day := yesterday()
	w.writeReported(day)
	save := func(name job.Name, target any) {
		t.Helper()
		doc := document(name, "0 * * * *")
		doc["target"] = target
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), doc)
	}
	save("billing/x", map[string]any{"success_rate": 90, "start_delay": "1s"})
	save("orders/y", map[string]any{"success_rate": 99.5})
	w.put("orders/z", "0 * * * *")
	q := "?from=" + day.Format(time.RFC3339) + "&to=" + day.Add(24*time.Hour).Format(time.RFC3339)
	verdicts := func(parameters string) map[job.Name]*runlog.Verdict {
		t.Helper()
		got, _ := want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+q+parameters, nil)
		all := map[job.Name]*runlog.Verdict{}
		for _, r := range got.Items {
			if r.Target != nil {
				all[r.Job] = r.Target
			}
		}
		return all
	}
	expected := map[job.Name]*runlog.Verdict{
		"billing/x": {SuccessRate: 90, StartDelay: job.Duration(time.Second), Budget: -2}, "orders/y": {Met: true, SuccessRate: 99.5},
	}
	if diff := cmp.Diff(expected, verdicts("&by=job")); diff != "" {
		t.Errorf("the verdicts differ (-want +got):\n%s", diff)
	}
	for _, parameters := range []string{"&by=group", "&by=job&by=version", "&by=job&step=hour", "&by=job&times=duration"} { // of part of a job, or of what is not told
		if got := verdicts(parameters); len(got) > 0 {
			t.Errorf("%s: there are the verdicts %+v", parameters, got)
		}
	}
	wrong := document("billing/x", "0 * * * *")
	wrong["target"] = map[string]any{"success_rate": 101}
	w.problem(http.StatusBadRequest, "invalid", "PUT", "/api/v1/jobs/billing/x", wrong, `"field":"target.success_rate"`)
}

func TestReportsHaveTheDaysOfTheZoneThatIsAskedFor(t *testing.T) {
	w := newWorld(t)
	day := yesterday()
	w.writeReported(day)
	q := "?from=" + day.Add(6*time.Hour).Format(time.RFC3339) + "&to=" + day.Add(7*time.Hour).Format(time.RFC3339)
	got, _ := want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+q+"&step=day&zone=Asia/Kolkata", nil)
	if begin := day.Add(-5*time.Hour - 30*time.Minute); !got.From.Equal(begin) || !got.To.Equal(begin.Add(24*time.Hour)) || len(got.Items) != 1 || !got.Items[0].At.Equal(begin) {
		t.Errorf("the report of a day in India is %+v", got)
	}
	longAgo := "?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&step=day&zone="
	want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+longAgo+"UTC", nil)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+longAgo+"Asia/Kolkata", nil, `"field":"from"`)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+q+"&step=day&zone=Asia/Atlantis", nil, `"field":"zone"`)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+q+"&step=hour&zone=Asia/Kolkata", nil, `"field":"zone"`)

	week := "?from=" + day.Add(-6*24*time.Hour).Format(time.RFC3339) + "&to=" + day.Add(24*time.Hour).Format(time.RFC3339)
	o, _ := want[Overview](w, http.StatusOK, "GET", "/api/v1/overview"+week+"&zone=Asia/Kolkata", nil)
	if begin := day.Add(-6*24*time.Hour - 5*time.Hour - 30*time.Minute); !o.From.Equal(begin) || !o.To.Equal(begin.Add(8*24*time.Hour)) || len(o.Trend) != 1 || o.Total.Runs != 4 {
		t.Errorf("the overview of a week in India is from %s to %s, with %d days, and %d runs in all", o.From, o.To, len(o.Trend), o.Total.Runs)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/overview"+week+"&zone=Mars", nil, `"field":"zone"`)
}

func TestReportsTellTheTimesThatAreAskedFor(t *testing.T) {
	w := newWorld(t)
	day := yesterday()
	w.writeReported(day)
	q := "?from=" + day.Format(time.RFC3339) + "&to=" + day.Add(24*time.Hour).Format(time.RFC3339)
	told := func(parameters string, durations, starts, ends int) {
		t.Helper()
		got, _ := want[Report](w, http.StatusOK, "GET", "/api/v1/reports/runs"+q+parameters, nil)
		r := got.Items[0]
		if r.Runs != 4 || r.Duration.Count != durations || r.Started.Count != starts || r.Finished.Count != ends {
			t.Errorf("%s: %d runs, %d durations, %d starts and %d ends", parameters, r.Runs, r.Duration.Count, r.Started.Count, r.Finished.Count)
		}
	}
	told("", 4, 4, 4)
	told("&times=none", 0, 0, 0)
	told("&times=duration&times=finished_after", 4, 0, 4)
	told("&times=none&order=lateness", 0, 4, 0)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+q+"&times=none&times=duration", nil, `"field":"times"`)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/reports/runs"+q+"&times=sometimes", nil, "times")
}
