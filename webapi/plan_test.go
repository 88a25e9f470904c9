package webapi

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

// schedule saves a job with the given schedule.
func (w *world) schedule(name job.Name, schedule map[string]any) {
	w.Helper()
	doc := document(name, "")
	doc["schedule"] = schedule
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), doc)
}

// nextYear is a range that every job saved by a test lies before.
const nextYear = "from=2036-01-05T12:00:00Z&to=2036-01-05T13:00:00Z"

func TestTheFiresOfARangeAreListedJobByJob(t *testing.T) {
	w := newWorld(t)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/lunch", `{"calendar":"lunch","windows":[{"from":"12:20","to":"12:40"}]}`)
	w.schedule("billing/a", map[string]any{"cron": "*/20 * * * *", "except": []string{"lunch"}})
	w.schedule("billing/b", map[string]any{"cron": "* * * * *"})
	w.schedule("billing/c", map[string]any{"cron": "0 3 * * *"})
	w.schedule("orders/d", map[string]any{"cron": "30 12 * * *"})
	w.put("orders/paused", "* * * * *")
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/orders/paused/pause", nil)
	at := func(minutes ...int) (out []time.Time) {
		for _, m := range minutes {
			out = append(out, time.Date(2036, 1, 5, 12, m, 0, 0, time.UTC))
		}
		return out
	}
	list := func(parameters string, expected ...JobFires) FirePage {
		t.Helper()
		page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+nextYear+parameters, nil)
		if d := cmp.Diff(expected, page.Items); d != "" {
			t.Errorf("%s: %s", parameters, d)
		}
		return page
	}
	a := JobFires{Job: "billing/a", Fires: at(40, 60)}
	b := JobFires{Job: "billing/b", Fires: at(1, 2, 3), More: true}
	d := JobFires{Job: "orders/d", Fires: at(30)}
	page := list("&per_job=3&limit=2", a, b)
	list("&per_job=3&cursor="+page.Next, d)
	list("&group=orders", d)
	list("&q=LING/A", a)
	w.schedule("billing/shut", map[string]any{"cron": "30 12 * * *", "except": []string{"lunch"}})
	a.Excluded = at(20)
	list("&group=billing&per_job=3&excluded=true", a, b, JobFires{Job: "billing/shut", Fires: []time.Time{}, Excluded: at(30)})
	list("&group=billing&per_job=3", JobFires{Job: "billing/a", Fires: at(40, 60)}, b)
}

func TestTheFiresOfARangeAreCountedInParts(t *testing.T) {
	w := newWorld(t)
	w.schedule("billing/b", map[string]any{"cron": "* * * * *"})
	w.schedule("billing/c", map[string]any{"cron": "0 3 * * *"})
	w.schedule("orders/d", map[string]any{"cron": "30 12 * * *"})
	count := func(parameters string, jobs int, counts ...int) {
		t.Helper()
		got, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?"+nextYear+parameters, nil)
		if d := cmp.Diff(counts, got.Counts); d != "" || got.Jobs != jobs || !got.Complete {
			t.Errorf("%s: %+v %s", parameters, got, d)
		}
	}
	count("&parts=4", 2, 14, 15, 16, 16) // a fire at the very end is of the last part
	count("", 2, 61)
	count("&group=orders&parts=2", 1, 0, 1)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/lunch", `{"calendar":"lunch","windows":[{"from":"12:20","to":"12:40"}]}`)
	w.schedule("lunch/a", map[string]any{"cron": "*/10 * * * *", "except": []string{"lunch"}})
	count("&group=lunch&parts=3", 1, 1, 0, 3) // as the list of its fires says
	want[map[string]any](w, http.StatusOK, "PUT", "/api/v1/jobs/orders/d", map[string]any{"job": "orders/d", "schedule": map[string]any{"cron": "*/20 12 * * *"}, "task": map[string]any{"shell": "true"}})
	count("&group=orders&parts=2", 1, 1, 1) // what was worked out before does not stand
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/fires/counts?from=2036-01-05T12:00:00Z&to=2036-01-05T12:00:00Z", nil, `"field":"to"`)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/fires?from=2036-01-05T12:00:00Z&to=2036-02-06T12:00:00Z", nil, "31 days")
}

func TestTheLoadOfARangeIsWhatItsJobsUsuallyTake(t *testing.T) {
	w := newWorld(t)
	w.schedule("billing/b", map[string]any{"cron": "*/20 * * * *"})
	w.schedule("billing/c", map[string]any{"cron": "30 12 * * *"})
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i, took := range []time.Duration{time.Minute, 2 * time.Minute, 9 * time.Minute} {
		r := begun("billing/b", now.Add(-time.Duration(i+1)*time.Hour))
		w.history(r, finished(started(r, "i1"), job.StatusSucceeded, 0, r.At.Add(took)))
	}
	got, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?load=true&parts=2&"+nextYear, nil)
	minutes := make([]int, 60)
	minutes[0], minutes[20], minutes[30], minutes[40] = 1, 1, 1, 1
	if d := cmp.Diff(minutes, got.Minutes); d != "" {
		t.Error(d)
	}
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?usual=true&"+nextYear, nil)
	usual := page.Items[0].UsualMs
	if usual == 0 || page.Items[1].UsualMs != 0 || !slices.Equal(got.SlotMs, []int64{usual, 2 * usual}) {
		t.Errorf("slots are taken for %v ms, by runs of %d and %d ms", got.SlotMs, usual, page.Items[1].UsualMs)
	}
}

func TestRunsAreCountedInParts(t *testing.T) {
	w := newWorld(t)
	x, y, z := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute)), begun("billing/z", noon.Add(59*time.Minute))
	w.history(x, y, z, finished(y, job.StatusFailed, 0, noon.Add(time.Hour)))
	count := func(parameters string, expected ...StatusCounts) {
		t.Helper()
		got, _ := want[RunCounts](w, http.StatusOK, "GET", "/api/v1/runs/counts?from=2026-01-05T12:00:00Z&to=2026-01-05T13:00:00Z"+parameters, nil)
		if d := cmp.Diff(expected, got.Items); d != "" {
			t.Errorf("%s: %s", parameters, d)
		}
	}
	count("", StatusCounts{"pending": 2, "failed": 1})
	count("&parts=3", StatusCounts{"pending": 1, "failed": 1}, StatusCounts{}, StatusCounts{"pending": 1})
	count("&group=billing&status=pending", StatusCounts{"pending": 2})
	count("&job=orders/y", StatusCounts{"failed": 1})
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/runs/counts?from=2026-01-05T12:00:00Z&to=2026-01-05T12:00:00.010Z&parts=11", nil, `"field":"to"`)
}

func TestJobsAreListedByWhatBecameOfTheirLastRun(t *testing.T) {
	w := newWorld(t)
	for _, name := range []job.Name{"billing/x", "billing/y", "billing/z"} {
		w.put(name, "@daily")
	}
	x, y, again := begun("billing/x", noon), begun("billing/y", noon), begun("billing/y", noon.Add(time.Hour))
	w.history(x, y, again, finished(x, job.StatusFailed, 0, noon), finished(y, job.StatusFailed, 0, noon), finished(again, job.StatusSucceeded, 0, noon))
	list := func(parameters string, expected ...job.Name) {
		t.Helper()
		page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?"+parameters, nil)
		var names []job.Name
		for _, item := range page.Items {
			names = append(names, item.Definition.Job.Job)
		}
		if d := cmp.Diff(expected, names); d != "" || page.Total != len(expected) {
			t.Errorf("%s: total %d %s", parameters, page.Total, d)
		}
	}
	list("last=failed", "billing/x")
	list("last=failed&last=succeeded", "billing/x", "billing/y")
	list("last=failed&q=y")
	list("last=missed")
}

func TestFiresThatCalendarsMoveAreListedWhereTheyRun(t *testing.T) {
	w := newWorld(t)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/weekend", `{"calendar":"weekend","windows":[{"days":"sat,sun","from":"00:00","to":"24:00"}]}`)
	w.schedule("pay/next", map[string]any{"cron": "0 9 5 * *", "except": []string{"weekend"}, "shift": "next"})
	w.schedule("pay/previous", map[string]any{"cron": "0 9 5,7 * *", "except": []string{"weekend"}, "shift": "previous"})
	w.schedule("pay/skip", map[string]any{"cron": "0 9 5 * *", "except": []string{"weekend"}})
	const january = "from=2036-01-01T00:00:00Z&to=2036-01-20T00:00:00Z" // the 5th is a Saturday
	at := func(day int) time.Time { return time.Date(2036, 1, day, 9, 0, 0, 0, time.UTC) }
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+january, nil)
	expected := []JobFires{{Job: "pay/next", Fires: []time.Time{at(7)}}, {Job: "pay/previous", Fires: []time.Time{at(4), at(7)}}}
	if d := cmp.Diff(expected, page.Items); d != "" {
		t.Error(d)
	}
	if got, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?"+january+"&parts=1", nil); got.Counts[0] != 3 || got.Jobs != 2 {
		t.Errorf("counted %+v", got)
	}
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/pay/next/preview?n=2&from=2036-01-01T00:00:00Z", nil)
	if d := cmp.Diff([]string{"2036-01-05T09:00:00Z: calendar weekend excludes it; shift next moves it to the next day that the calendars allow", "2036-01-07T09:00:00Z"}, told(p)); d != "" || p.PerYear != 12 {
		t.Errorf("%d a year, %s", p.PerYear, d)
	}
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/jobs/pay/next/skip", map[string]any{"fire_time": at(8)}, "has no fire at 2036-01-08T09:00:00Z")
}
