package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestACalendarFileIsReadAndSavesNothing(t *testing.T) {
	w := newWorld(t)
	year := time.Now().UTC().Year()
	file := strings.Join([]string{
		"BEGIN:VCALENDAR", "X-WR-CALNAME:Closed", "X-WR-TIMEZONE:Europe/Berlin",
		"BEGIN:VEVENT", "SUMMARY:Christmas", "DTSTART;VALUE=DATE:20201225", "RRULE:FREQ=YEARLY", "END:VEVENT",
		"BEGIN:VEVENT", "SUMMARY:Move", fmt.Sprintf("DTSTART;VALUE=DATE:%d0704", year+1), fmt.Sprintf("DTEND;VALUE=DATE:%d0706", year+1), "END:VEVENT",
		"BEGIN:VEVENT", "SUMMARY:Sundays", "DTSTART;VALUE=DATE:20200105", "RRULE:FREQ=WEEKLY", "END:VEVENT",
		"BEGIN:VEVENT", "SUMMARY:Lunch", "DTSTART:20260101T120000", "DTEND:20260101T130000", "END:VEVENT",
		"END:VCALENDAR",
	}, "\r\n")
	const path = "/api/v1/import/calendar"
	got, _ := want[CalendarFileRead](w, http.StatusOK, "POST", path, map[string]any{"text": file})
	days := []string{fmt.Sprintf("%d-07-04", year+1), fmt.Sprintf("%d-07-05", year+1)}
	expected := CalendarFileRead{
		Title: "Closed", Zone: "Europe/Berlin", Dates: append([]string{"12-25"}, days...), Windows: []job.Window{{Days: "sun", From: "00:00", To: "24:00"}},
		Events: []CalendarFileEvent{
			{Line: 4, Title: "Christmas", Outcome: "imported", Dates: []string{"12-25"}},
			{Line: 9, Title: "Move", Outcome: "imported", Dates: days},
			{Line: 14, Title: "Sundays", Outcome: "imported", Dates: []string{}, Days: "sun"},
			{Line: 19, Title: "Lunch", Outcome: "left_out", Dates: []string{}, Reason: "part_of_day", Note: "it lasts part of a day, and a calendar has whole days"},
		},
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.problem(400, "invalid", "POST", path, map[string]any{"text": strings.Replace(file, "FREQ=WEEKLY", "FREQ=HOURLY", 1)},
		`"field":"line 17"`, "has a rule with FREQ=HOURLY, which is not understood")
	w.problem(400, "invalid", "POST", path, map[string]any{"text": file, "zone": "Mars/Olympus"}, `"field":"zone"`)
	w.problem(400, "invalid", "POST", path, map[string]any{"text": file, "years": 21}, "years")
	if list, _ := want[CalendarList](w, http.StatusOK, "GET", "/api/v1/calendars", nil); len(list.Items) != 0 {
		t.Errorf("%d calendars were saved", len(list.Items))
	}
}

func TestAPreviewOfACalendarTellsTheFiresThatItAffects(t *testing.T) {
	w := newWorld(t)
	today := time.Now().UTC()
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/closed", map[string]any{"calendar": "closed", "dates": []string{day(3), day(5)}})
	w.schedule("billing/a", map[string]any{"cron": "0 12 * * *", "except": []string{"closed"}})
	w.schedule("billing/b", map[string]any{"cron": "0 6,18 * * *", "only": []string{"closed"}})
	w.schedule("billing/c", map[string]any{"cron": "0 12 * * *"})
	const path = "/api/v1/calendars/closed/preview"
	preview := func(dates ...string) CalendarPreview {
		t.Helper()
		got, _ := want[CalendarPreview](w, http.StatusOK, "POST", path, map[string]any{"calendar": "closed", "dates": dates})
		return got
	}
	fire := func(n, hour int, skipped bool) AffectedFire {
		at, err := time.Parse(time.DateOnly, day(n))
		w.check(err)
		return AffectedFire{FireTime: at.Add(time.Duration(hour) * time.Hour), Skipped: skipped}
	}
	got := preview(day(5), day(9))
	expected := CalendarPreview{
		From: got.From, To: got.From.Add(366 * 24 * time.Hour), Skipped: 3, Released: 3, Complete: true, Jobs: []AffectedJob{
			{Job: "billing/a", Skipped: 1, Released: 1, Fires: []AffectedFire{fire(3, 12, false), fire(9, 12, true)}},
			{Job: "billing/b", Skipped: 2, Released: 2, Fires: []AffectedFire{fire(3, 6, true), fire(3, 18, true), fire(9, 6, false), fire(9, 18, false)}},
		},
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if same := preview(day(3), day(5)); same.Skipped+same.Released != 0 || len(same.Jobs) != 2 {
		t.Errorf("without a change: %+v", same)
	}
	w.problem(400, "invalid", "POST", path, map[string]any{"calendar": "closed", "dates": []string{"13-01"}}, "dates[0]")
	w.problem(400, "invalid", "POST", path, map[string]any{"calendar": "other"}, "must be as in the path")
	now, _ := want[CalendarItem](w, http.StatusOK, "GET", "/api/v1/calendars/closed", nil)
	if now.Definition.Version != 1 {
		t.Errorf("a preview saved version %d", now.Definition.Version)
	}
}
