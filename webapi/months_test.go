package webapi

import (
	"encoding/csv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/logstore"
)

// writeMonths has, at the beginning of this month and of the last, runs of billing/x that fail, one of
// orders/y that succeeds, and fires of orders/z that were skipped. It returns the name of this month.
func (w *world) writeMonths() string {
	w.Helper()
	now := time.Now().UTC()
	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	save := func(name job.Name, owner string, tags ...string) {
		doc := document(name, "0 * * * *")
		doc["owner"], doc["tags"], doc["target"] = owner, tags, map[string]any{"success_rate": 90}
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), doc)
	}
	save("billing/x", "ann", "money")
	save("orders/y", "bob", "money", "nightly")
	var all []logstore.Update
	for back, failures := range []int{3, 1} {
		at := this.AddDate(0, -back, 0)
		for i := range failures {
			x := begun("billing/x", at.Add(time.Duration(i)*time.Second))
			end := finished(x, job.StatusFailed, 0, at.Add(time.Minute))
			end.StartedAt, end.Message = at.Add(2*time.Second), "code 7"
			all = append(all, x, end)
		}
		y := begun("orders/y", at)
		end := finished(y, job.StatusSucceeded, 0, at.Add(time.Minute))
		end.StartedAt = at.Add(time.Second)
		z := begun("orders/z", at)
		z.Status, z.Reason, z.Count, z.Until, z.CommittedAt = job.StatusSkipped, "excluded by calendar holidays", 5, at.Add(4*time.Second), time.Time{}
		all = append(all, y, end, z)
	}
	w.history(all...)
	return this.Format("2006-01")
}

func TestAMonthIsReportedBesideTheMonthBefore(t *testing.T) {
	w := newWorld(t)
	name := w.writeMonths()
	read := func(q string) MonthReport {
		t.Helper()
		got, _ := want[MonthReport](w, http.StatusOK, "GET", "/api/v1/reports/month?month="+name+q, nil)
		return got
	}
	all := read("")
	if all.Total.Runs != 9 || all.Before.Runs != 7 || all.Total.Scheduled != 4 || all.Before.Scheduled != 2 || *all.Total.SuccessRate != 0.25 || *all.Before.SuccessRate != 0.5 || all.Jobs != 2 {
		t.Errorf("of %d jobs the totals are %+v and before %+v", all.Jobs, all.Total, all.Before)
	}
	if all.Zone != "UTC" || all.From.Day() != 1 || !all.To.Equal(all.From.AddDate(0, 1, 0)) {
		t.Errorf("the month of %s is from %s to %s", all.Zone, all.From, all.To)
	}
	if len(all.Reasons) != 1 || all.Reasons[0].Fires != 5 || all.Reasons[0].Before != 5 || all.Reasons[0].Status != job.StatusSkipped {
		t.Errorf("the reasons are %+v", all.Reasons)
	}
	if len(all.Targets) != 2 || all.Targets[0].Job != "billing/x" || all.Targets[0].Total.Target.Budget != -3 || all.Targets[0].Before.Target.Budget != -1 || !all.Targets[1].Total.Target.Met {
		t.Errorf("the targets are %+v", all.Targets)
	}
	if len(all.Failures) != 1 || all.Failures[0].Failure.Attempts != 3 || all.Failures[0].Before != 1 {
		t.Errorf("the failures are %+v", all.Failures)
	}
	if len(all.Slowest) != 2 || all.Slowest[0].Job != "orders/y" || all.Slowest[0].Before.Duration.Count != 1 {
		t.Errorf("the slowest are %+v", all.Slowest)
	}
	if len(all.Changes) != 2 || all.MoreChanges || !slices.ContainsFunc(all.Changes, func(c MonthChange) bool { return c.Object == "job orders/y" && c.Operation == "putJob" }) {
		t.Errorf("the changes are %+v", all.Changes)
	}
	for q, runs := range map[string]int{"&group=billing": 3, "&owner=ann": 3, "&owner=bob": 1, "&tag=money": 4, "&tag=money&group=orders": 1, "&tag=nightly&owner=bob": 1} {
		if part := read(q); part.Total.Runs != runs {
			t.Errorf("%s: %d runs; want %d", q, part.Total.Runs, runs)
		}
	}
	if part := read("&owner=ann"); part.Total.Failed() != 3 || len(part.Failures) != 1 || len(part.Reasons) != 0 || len(part.Changes) != 1 || len(part.Targets) != 1 {
		t.Errorf("the report of an owner is %+v", part)
	}
	want[JobPatchResult](w, http.StatusOK, "POST", "/api/v1/jobs/patch", `{"filter":{},"patch":{"timeout":"9m"}}`)
	for q, changes := range map[string]int{"": 4, "&owner=ann": 2, "&group=orders": 2} {
		if part := read(q); len(part.Changes) != changes {
			t.Errorf("%s: after a change of both jobs the changes are %+v", q, part.Changes)
		}
	}
	if !all.RunsSince.IsZero() {
		t.Errorf("all runs are kept, and they are said to be known since %s", all.RunsSince)
	}
	_, err := w.store.Trim(t.Context(), all.From.Add(time.Hour), job.Retention{Default: job.Keep{Runs: job.Duration(2 * time.Hour), Logs: job.Duration(time.Hour)}})
	w.check(err)
	if left := read(""); left.RunsSince.Before(all.From) || left.Before.Runs != 7 {
		t.Errorf("of runs that are kept since %s, %d are counted of the month before", left.RunsSince, left.Before.Runs)
	}
	india := read("&zone=Asia/Kolkata")
	if at := india.From.Add(5*time.Hour + 30*time.Minute); at.Day() != 1 || at.Hour() != 0 || at.Minute() != 0 || india.Total.Runs != all.Total.Runs {
		t.Errorf("the month in India begins at %s with %d runs", india.From, india.Total.Runs)
	}
}

func TestAMonthIsExportedAsATable(t *testing.T) {
	w := newWorld(t)
	name := w.writeMonths()
	answer := w.send("GET", "/api/v1/reports/month/export?month="+name, nil)
	status, body := answer.status, answer.text
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if status != http.StatusOK || err != nil || rows[0][3] != "month" {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	for _, expected := range []string{
		"total,,ended,9,7", "total,,skipped,5,5", "total,,success_rate,0.2500,0.5000", "skipped,excluded by calendar holidays,fires,5,5",
		"target,billing/x,error_budget,-3,-1", "failure,code #,attempts,3,1", "slowest,orders/y,duration_p95_ms,58808,58808",
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return strings.Join(row, ",") == expected }) {
			t.Errorf("there is no row %s in\n%s", expected, body)
		}
	}
}

func TestAMonthIsMailedOnceToEachChannelThatAsksForIt(t *testing.T) {
	w := newWorld(t)
	name := w.writeMonths()
	save := func(channel string, change map[string]any) {
		doc := map[string]any{"channel": channel, "kind": "email", "email": map[string]any{"host": "mail.test", "from": "a@example.org", "to": []string{"b@example.org"}}}
		maps.Copy(doc, change)
		want[ChannelItem](w, http.StatusOK, "PUT", "/api/v1/alerts/channels/"+channel, doc)
	}
	save("all", map[string]any{"month_report": map[string]any{}})
	save("ann", map[string]any{"month_report": map[string]any{"day": 3, "owner": "ann"}, "language": "zh", "zone": "Asia/Shanghai"})
	save("gone", map[string]any{"month_report": map[string]any{"owner": "eve"}})
	save("off", map[string]any{"month_report": map[string]any{}, "disabled": true})
	save("none", nil)
	first, err := time.Parse("2006-01", name)
	w.check(err)
	mailed := func(now time.Time, expected map[string][]string) {
		t.Helper()
		var rounds sync.WaitGroup
		for range 2 { // nodes
			rounds.Go(func() {
				if err := w.server.handlers.mailer.Round(t.Context(), now); err != nil {
					t.Error(err)
				}
			})
		}
		rounds.Wait()
		all, err := alert.NewStore(w.conn).Incidents(t.Context(), func(*alerting.Incident) bool { return true })
		w.check(err)
		if len(all) != len(expected) {
			t.Fatalf("at %s there are %d reports; want %d", now, len(all), len(expected))
		}
		for i := range all {
			channel := all[i].Deliveries[0].Channel
			for _, part := range expected[channel] {
				if !strings.Contains(all[i].Report.Text, part) {
					t.Errorf("the report to %s lacks %q:\n%s", channel, part, all[i].Report.Text)
				}
			}
			if len(expected[channel]) == 0 {
				t.Errorf("channel %s gets\n%s", channel, all[i].Report.Text)
			}
		}
	}
	due := first.AddDate(0, 1, 0).Add(8 * time.Hour)
	mailed(due.Add(-time.Second), nil)
	expected := map[string][]string{
		"all": {
			"2 jobs now. Times are in UTC.", "- Fires and other runs: 9 (7)", "- Failed: 3 (1)", "- Success rate: 25.00% (50.00%)", "- billing/x, missed: 0.00% (0.00%)",
			"skipped, excluded by calendar holidays: 5 (5)", "- code #: 3 (1)", "orders/y: 58.808s (58.808s)", "saved job orders/y",
		},
		"gone": {"names eve"},
	}
	mailed(due, expected)
	mailed(due.Add(time.Hour), expected)
	expected["ann"] = []string{"现有 1 个任务。时间采用时区 Asia/Shanghai。", "- 失败: 3 (1)", "billing/x, 未达标"}
	mailed(due.AddDate(0, 0, 2), expected)
	page, _ := want[IncidentPage](w, http.StatusOK, "GET", "/api/v1/alerts/incidents", nil)
	if len(page.Items) != 3 || page.Items[0].Report != nil {
		t.Errorf("the incidents are %+v", page.Items)
	}
}

func TestAMonthThatCannotBeReportedIsRefused(t *testing.T) {
	w := newWorld(t)
	name := w.writeMonths()
	for q, parts := range map[string][]string{
		"month=2026":                           {`"field":"month"`, "must be a month from 2000-01 to " + name},
		"month=9999-01":                        {`"field":"month"`, "must be a month from 2000-01 to " + name},
		"month=1999-12":                        {`"field":"month"`, "must be a month from 2000-01"},
		"month=2020-01&zone=Asia/Kolkata":      {`"field":"month"`, "ask for UTC"},
		"month=" + name + "&zone=Mars":         {`"field":"zone"`},
		"month=" + name + "&group=none":        {`"field":"group"`, "names none"},
		"month=" + name + "&group=A":           {`"field":"group"`},
		"month=" + name + "&owner=eve":         {`"field":"owner"`, "names eve"},
		"month=" + name + "&tag=daily":         {`"field":"tag"`, "names daily"},
		"month=" + name + "&group=x&owner=ann": {`"field":"owner"`},
	} {
		for _, path := range []string{"/api/v1/reports/month?", "/api/v1/reports/month/export?"} {
			w.problem(http.StatusBadRequest, "invalid", "GET", path+q, nil, parts...)
		}
	}
	old, _ := want[MonthReport](w, http.StatusOK, "GET", "/api/v1/reports/month?month=2020-01", nil)
	if old.Total.Runs != 0 || old.Total.SuccessRate != nil {
		t.Errorf("a month without runs has %+v", old.Total)
	}
}
