package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// told returns fires, each as one line.
func told(p Preview) []string {
	var lines []string
	for _, f := range p.Fires {
		line := f.FireTime.Format("2006-01-02T15:04:05Z")
		if !f.Due.Equal(f.FireTime) {
			line += " due later"
		}
		if f.Skipped {
			line += ": " + string(f.Reason)
		}
		if f.Clock != nil {
			line += " " + f.Clock.Kind + " of " + f.Clock.Wall
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAPreviewHasTheNextFires(t *testing.T) {
	w := newWorld(t)
	preview := func(body string, note reason.Text, fires ...string) {
		t.Helper()
		p, _ := want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", body)
		if d := cmp.Diff(fires, told(p)); d != "" || p.Note != note {
			t.Errorf("%s: note %q, %s", body, p.Note, d)
		}
	}
	preview(`{"expr":"0 3 * * *","zone":"Europe/Berlin","from":"2026-01-05T12:00:00Z","n":2}`, "", "2026-01-06T02:00:00Z", "2026-01-07T02:00:00Z")
	preview(`{"expr":"@at 2026-01-06T00:00:00Z","from":"2026-01-05T12:00:00Z"}`, "the schedule has one fire, at 2026-01-06T00:00:00Z", "2026-01-06T00:00:00Z")
	preview(`{"expr":"@at 2026-01-06T00:00:00Z","from":"2026-02-05T12:00:00Z"}`, "the schedule has one fire, at 2026-01-06T00:00:00Z")
	preview(`{"schedule":{"cron":"0 0 * * *","until":"2026-02-01T00:00:00Z"},"from":"2026-02-05T12:00:00Z"}`, "the schedule ends at 2026-02-01T00:00:00Z")
	preview(`{"expr":"0 0 0 1 1 ? 2025","from":"2026-02-05T12:00:00Z"}`, "no later date matches the schedule")
	preview(`{"schedule":{"fixed_rate":"90s"},"from":"2026-01-05T12:00:00Z","n":2}`, "", "2026-01-05T12:01:30Z", "2026-01-05T12:03:00Z")
	preview(`{"schedule":{"cron":"@daily","spread":"1h"},"job":"billing/x","from":"2026-01-05T12:00:00Z","n":1}`, "", "2026-01-06T00:00:00Z due later")
	preview(`{"schedule":{"fixed_delay":"90s"}}`, "each fire follows the end of the previous run")
	preview(`{"schedule":{}}`, "the job runs only when somebody starts it")
}

func TestAPreviewWarnsOfWhatManyPeopleMeanOtherwise(t *testing.T) {
	w := newWorld(t)
	f := func(body string, want ...string) {
		t.Helper()
		p := wantPreview(w, body)
		var got []string
		for _, v := range p.Warnings {
			got = append(got, v.Field+" "+string(v.Reason))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", body, d)
		}
	}
	f(`{"expr":"*/90 * * * *"}`, `schedule.cron has "*/90", which stands for 0 and starts again each time; use fixed_rate for a fire every 90m`)
	f(`{"schedule":{"cron":"* 3 * * *"}}`, `schedule.cron has "*" before "3" and fires 60 times then; for one fire, write 0 in the place of the *`)
	f(`{"schedule":{"cron":"0 3 * * *"}}`)
}

func wantPreview(w *world, body string) Preview {
	w.Helper()
	p, _ := want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", body)
	return p
}

func TestAnIntervalOfTheCalendarIsSavedAndForeseen(t *testing.T) {
	w := newWorld(t)
	const schedule = `{"zone":"Europe/Berlin","every":{"months":3,"on":[31,"last fri"],"at":"02:30","from":"2026-01-01"}}`
	body := `{"job":"billing/x","schedule":` + schedule + `,"task":{"handler":"h"}}`
	saved, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", body)
	every := &job.Every{Months: 3, On: job.OneOrMore{"31", "last fri"}, At: job.OneOrMore{"02:30"}, From: "2026-01-01"}
	if d := cmp.Diff(every, saved.Definition.Schedule.Every); d != "" {
		t.Error(d)
	}
	item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil)
	if d := cmp.Diff(every, item.Definition.Schedule.Every); d != "" {
		t.Error(d)
	}
	again, err := json.Marshal(item.Definition.Job)
	if err != nil {
		t.Fatal(err)
	}
	if same, _ := want[PutJobResult](w, http.StatusOK, "PUT", "/api/v1/jobs/billing/x", string(again)); same.Result != "unchanged" {
		t.Errorf("what was read is %s when it is saved: %+v", same.Result, same.Changes)
	}
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x/preview?n=3&from=2026-01-05T12:00:00Z", nil)
	if d := cmp.Diff([]string{"2026-01-30T01:30:00Z", "2026-01-31T01:30:00Z", "2026-04-24T00:30:00Z"}, told(p)); d != "" || p.Kind != job.KindEvery {
		t.Error(p.Kind, d)
	}
	if p.Schedule != "every 3 months on 31, last fri at 02:30 from 2026-01-01 Europe/Berlin" || p.Clock == nil || p.Clock.Gap != "fire" || p.PerYear != 6 {
		t.Errorf("the preview is %+v", p)
	}
	p, _ = want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", `{"schedule":{"zone":"Europe/Berlin","every":{"weeks":2,"at":["02:30"],"from":"2026-03-01"}},"from":"2026-03-16T12:00:00Z","n":2}`)
	if d := cmp.Diff([]string{"2026-03-29T01:00:00Z after_gap of 02:30:00", "2026-04-12T00:30:00Z"}, told(p)); d != "" {
		t.Error(d)
	}
	w.problem(http.StatusBadRequest, "invalid", "PUT", "/api/v1/jobs/billing/y", `{"job":"billing/y","schedule":{"every":{"weeks":2,"at":["9"],"from":"2026-01-06"}},"task":{"handler":"h"}}`, "schedule.every.at")
	list, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?where=schedule:every", nil)
	if len(list.Items) != 1 {
		t.Errorf("%d jobs by an interval of the calendar, want 1", len(list.Items))
	}
}

func TestAPreviewTellsWhatMovedClocksDoAndHowOftenItFires(t *testing.T) {
	w := newWorld(t)
	preview := func(schedule, from string) Preview {
		t.Helper()
		p, _ := want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", fmt.Sprintf(`{"schedule":%s,"from":"%s","n":2}`, schedule, from))
		return p
	}
	p := preview(`{"cron":"30 2 * * *","zone":"Europe/Berlin"}`, "2027-03-27T12:00:00Z")
	if d := cmp.Diff([]string{"2027-03-28T01:00:00Z after_gap of 02:30:00", "2027-03-29T00:30:00Z"}, told(p)); d != "" {
		t.Error(d)
	}
	spring := ClockChange{At: time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC), BeforeSeconds: 3600, AfterSeconds: 7200, Gap: "fire", Overlap: "first"}
	if p.Clock == nil || *p.Clock != spring {
		t.Errorf("the next change is %+v; want %+v", p.Clock, spring)
	}
	if p.PerDay != 1 || p.PerYear != 365 {
		t.Errorf("%d fires a day, %d a year; want 1 and 365", p.PerDay, p.PerYear)
	}
	p = preview(`{"cron":"30 2 * * *","zone":"Europe/Berlin","dst":"quartz"}`, "2027-10-30T12:00:00Z")
	if d := cmp.Diff([]string{"2027-10-31T01:30:00Z second_pass of 02:30:00", "2027-11-01T01:30:00Z"}, told(p)); d != "" {
		t.Error(d)
	}
	if p = preview(`{"cron":"30 2 * * *","zone":"Asia/Shanghai"}`, "2027-03-27T12:00:00Z"); p.Clock != nil {
		t.Errorf("Shanghai moves its clocks: %+v", p.Clock)
	}
	if p = preview(`{"fixed_rate":"5s"}`, "2027-03-27T12:00:00Z"); p.PerDay != 17_280 || p.PerYear != 6_307_200 {
		t.Errorf("%d fires a day, %d a year; want 17280 and 6307200", p.PerDay, p.PerYear)
	}
}

func TestAPreviewMarksWhatCalendarsSkip(t *testing.T) {
	w := newWorld(t)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/holidays", `{"calendar":"holidays","dates":["01-06"]}`)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/weekend", `{"calendar":"weekend","windows":[{"days":"sat,sun","from":"00:00","to":"24:00"}]}`)
	body := func(only string) string {
		return fmt.Sprintf(`{"schedule":{"cron":"0 9 * * *","except":["holidays"],"only":[%s]},"from":"2026-01-05T12:00:00Z","n":5}`, only)
	}
	p, _ := want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", body(""))
	if d := cmp.Diff([]string{"2026-01-06T09:00:00Z: calendar holidays excludes it", "2026-01-07T09:00:00Z", "2026-01-08T09:00:00Z", "2026-01-09T09:00:00Z", "2026-01-10T09:00:00Z"}, told(p)); d != "" {
		t.Error(d)
	}
	p, _ = want[Preview](w, http.StatusOK, "POST", "/api/v1/preview", body(`"weekend"`))
	const not = ": calendar weekend does not include it"
	if d := cmp.Diff([]string{"2026-01-06T09:00:00Z: calendar holidays excludes it", "2026-01-07T09:00:00Z" + not, "2026-01-08T09:00:00Z" + not, "2026-01-09T09:00:00Z" + not, "2026-01-10T09:00:00Z"}, told(p)); d != "" {
		t.Error(d)
	}
}

func TestAPausedJobsPreviewSaysThatItsFiresAreSkipped(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/pause", nil)
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x/preview?n=1&from=2026-01-05T12:00:00Z", nil)
	if d := cmp.Diff([]string{"2026-01-06T03:00:00Z: the job is paused"}, told(p)); d != "" {
		t.Error(d)
	}
}

func TestCalendarsAreKeptWithTheirRevisions(t *testing.T) {
	w := newWorld(t)
	const c = "/api/v1/calendars/holidays"
	_, head := want[CalendarItem](w, http.StatusOK, "PUT", c, `{"calendar":"holidays","dates":["12-25"]}`, header{"If-None-Match", "*"})
	first := head.Get("ETag")
	item, head := want[CalendarItem](w, http.StatusOK, "PUT", c, `{"calendar":"holidays","dates":["12-25","12-26"]}`, header{"If-Match", first}, header{"Carillon-User", "ann"})
	if item.Definition.Version != 2 || item.Definition.Author != "ann" || item.Definition.Zone != "UTC" {
		t.Errorf("%+v", item)
	}
	w.problemWith([]header{{"If-Match", first}}, 412, "precondition_failed", "PUT", c, `{"calendar":"holidays"}`)
	w.problemWith([]header{{"If-Match", first}}, 412, "precondition_failed", "DELETE", c, nil)
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/days-off", `{"calendar":"days-off"}`)
	list, _ := want[CalendarList](w, http.StatusOK, "GET", "/api/v1/calendars", nil)
	if len(list.Items) != 2 || list.Items[0].Definition.Calendar.Calendar != "days-off" || list.Items[1].Revision != item.Revision {
		t.Errorf("%+v", list)
	}
	got, _ := want[CalendarItem](w, http.StatusOK, "GET", c, nil)
	if d := cmp.Diff(item, got); d != "" {
		t.Error(d)
	}
	want[struct{}](w, http.StatusNoContent, "DELETE", c, nil, header{"If-Match", head.Get("ETag")})
	w.problem(404, "not_found", "GET", c, nil)
	w.problem(404, "not_found", "DELETE", c, nil)
}
