package ical

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fileOf returns what an exporter wrote.
func fileOf(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// story tells what became of each event, a line for each.
func story(c *Calendar) string {
	var b strings.Builder
	for _, e := range c.Events {
		fmt.Fprintf(&b, "%d %s: %s %s%v %s\n", e.Line, e.Title, e.Outcome, strings.Join(e.Dates, " "), e.Windows, e.Note)
	}
	return b.String()
}

func TestFilesAsGoogleAppleAndOutlookExportThem(t *testing.T) {
	f := func(file, zone, title string, dates []string, events string) {
		t.Helper()
		c, err := Import(t.Context(), fileOf(t, file), Options{From: newYear})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Zone != zone || c.Title != title {
			t.Errorf("%s: zone %q, title %q; want %q, %q", file, c.Zone, c.Title, zone, title)
		}
		if diff := cmp.Diff(dates, c.Dates); diff != "" {
			t.Errorf("%s: dates (-want +got):\n%s", file, diff)
		}
		if diff := cmp.Diff(strings.TrimPrefix(events, "\n"), story(c)); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", file, diff)
		}
		if err := (job.Calendar{Calendar: "x", Zone: c.Zone, Dates: c.Dates, Windows: c.Windows}).Validate(); err != nil {
			t.Errorf("%s: makes a calendar that is refused: %v", file, err)
		}
	}
	f("google.ics", "Europe/Berlin", "Feiertage in Deutschland", []string{"2026-04-06", "2026-12-25", "2026-12-26"}, `
9 Neujahr: left_out [] it is over before 2026-01-01
19 Ostermontag: imported 2026-04-06[] 
30 Erster und zweiter Weihnachtstag: imported 2026-12-25 2026-12-26[] 
`)
	f("apple.ics", "", "US Holidays", []string{"07-04", "2026-05-25", "2026-11-26", "2027-05-31", "2028-11-23", "2029-11-22", "2030-11-28"}, `
8 Independence Day: imported 07-04[] 
21 Thanksgiving: imported 2026-11-26 2028-11-23 2029-11-22 2030-11-28[] it recurs without end, and is expanded until 2031-01-01
29 Memorial Day: imported 2026-05-25 2027-05-31[] 
`)
	f("outlook.ics", "", "", []string{"2026-05-01", "2026-07-04", "2026-07-12", "2026-07-13"}, `
14 Tag der Arbeit: imported 2026-05-01[] 
22 Jour fixe: left_out [] it lasts part of a day, and a calendar has whole days
28 Umzug, Halle 2: imported 2026-07-04 2026-07-12[] 
35 Umzug (verschoben): imported 2026-07-13[] 
42 Abgesagt: left_out [] it is cancelled
`)
}

// of returns a file with one event of such lines; the first of them is its line 3.
func of(lines ...string) []byte {
	return []byte("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

func TestWhatRecursStaysARuleWhereACalendarHasOne(t *testing.T) {
	f := func(dates, windows string, lines ...string) {
		t.Helper()
		c, err := Import(t.Context(), of(lines...), Options{From: newYear, Years: 2})
		if err != nil {
			t.Errorf("%v: %v", lines, err)
			return
		}
		if got := strings.Join(c.Dates, " "); got != dates {
			t.Errorf("%v: dates %s; want %s", lines, got, dates)
		}
		var all []string
		for _, w := range c.Windows {
			all = append(all, w.Days+" "+w.From+"-"+w.To)
		}
		if got := strings.Join(all, " "); got != windows {
			t.Errorf("%v: windows %q; want %q", lines, got, windows)
		}
	}
	f("12-25", "", "DTSTART;VALUE=DATE:20201225", "RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25")
	f("01-01 12-31", "", "DTSTART;VALUE=DATE:20191231", "DTEND;VALUE=DATE:20200102", "RRULE:FREQ=YEARLY")
	f("02-29", "", "DTSTART;VALUE=DATE:20200229", "RRULE:FREQ=YEARLY")
	f("2026-02-28 2026-03-01 2027-02-28 2027-03-01", "", "DTSTART;VALUE=DATE:20230228", "DURATION:P2D", "RRULE:FREQ=YEARLY")
	f("2027-12-25", "", "DTSTART;VALUE=DATE:20271225", "RRULE:FREQ=YEARLY")
	f("", "sat,sun 00:00-24:00", "DTSTART;VALUE=DATE:20200104", "RRULE:FREQ=WEEKLY;BYDAY=SA,SU")
	f("", "fri 00:00-24:00", "DTSTART;VALUE=DATE:20200103", "RRULE:FREQ=WEEKLY")
	f("2026-01-31 2026-03-31", "", "DTSTART;VALUE=DATE:20260131", "RRULE:FREQ=MONTHLY;COUNT=2")
	f("2026-01-30 2026-02-27 2026-03-27 2026-03-31", "", "DTSTART;VALUE=DATE:20260130", "RRULE:FREQ=MONTHLY;BYDAY=FR,TU;BYMONTHDAY=-1,-2,30,27;UNTIL=20260331T215959Z")
	f("2026-06-01 2026-06-02 2026-07-01", "", "DTSTART;VALUE=DATE:20260601", "RDATE;VALUE=DATE:20260602,20260701")
	// The Tuesdays and the first Monday, not the Tuesdays that are a first Monday.
	f("2026-06-01 2026-06-02 2026-06-09 2026-06-16 2026-06-23 2026-06-30", "", "DTSTART;VALUE=DATE:20260601", "RRULE:FREQ=MONTHLY;BYDAY=1MO,TU;UNTIL=20260630")
	f("2026-01-05 2026-02-24 2026-12-28", "", "DTSTART;VALUE=DATE:20260105", "RRULE:FREQ=YEARLY;BYDAY=8TU,-1MO;COUNT=3")
	// No month has a twentieth Monday or a 30th of February: only the first day is left.
	f("2026-10-01", "", "DTSTART;VALUE=DATE:20261001", "RRULE:FREQ=MONTHLY;BYDAY=20MO,-53TU")
	f("2026-10-01", "", "DTSTART;VALUE=DATE:20261001", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=7")
	f("2026-06-01", "", "DTSTART:20260601T000000", "DTEND:20260601T235959")
	f("2026-06-01", "", "DTSTART;VALUE=DATE:20260601", "DTEND;VALUE=DATE:20260601")
}

func TestInstantsInUTCAreTakenToTheZone(t *testing.T) {
	file := of("DTSTART:20260531T220000Z", "DTEND:20260601T220000Z")
	c, err := Import(t.Context(), file, Options{From: newYear, Zone: "Europe/Berlin"})
	if err != nil || cmp.Diff([]string{"2026-06-01"}, c.Dates) != "" {
		t.Errorf("got %v, %v", c, err)
	}
	c, err = Import(t.Context(), file, Options{From: newYear})
	if err != nil || len(c.Dates) != 0 || c.Events[0].Outcome != LeftOut {
		t.Errorf("without a zone: got %v, %v", c, err)
	}
}

func TestABadFileIsRefusedByTheLine(t *testing.T) {
	f := func(file []byte, want string) {
		t.Helper()
		c, err := Import(t.Context(), file, Options{From: newYear})
		if err == nil {
			t.Errorf("took %q: %s", file, story(c))
			return
		}
		if got := err.Error(); !strings.Contains(got, want) {
			t.Errorf("%q\n is refused with %q\n want %q", file, got, want)
		}
		if len(job.Problems(err)) == 0 {
			t.Errorf("%v is no *job.InvalidError", err)
		}
	}
	start := "DTSTART;VALUE=DATE:20260101"
	f(nil, "line 1 must be BEGIN:VCALENDAR")
	f([]byte("<html>\n"), `line 1 is no property, which is like NAME:VALUE: "<html>"`)
	f([]byte("\xff\xfeB\x00E\x00"), "line 1 is not UTF-8")
	f([]byte(" BEGIN:VCALENDAR\n"), "line 1 goes on with a line that there is not")
	f([]byte("BEGIN:VCALENDAR\nEND:VCALENDAR\n"), "file has no events")
	f([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\n"+start+"\n"), "line 2 begins VEVENT, which does not end: the file is cut off")
	f([]byte("BEGIN:VCALENDAR\nEND:VEVENT\n"), "line 2 ends VEVENT, which has not begun")
	f(of("SUMMARY:x"), "line 2 begins an event that has no DTSTART")
	f(of("DTSTART;VALUE=DATE:20260230"), `line 3 has DTSTART "20260230", which is no date`)
	f(of("DTSTART;VALUE=DATE:20260101T100000"), `line 3 has DTSTART "20260101T100000"`)
	f(of(start, "SUMMARY:folded", " twice", "EXDATE:tomorrow"), `line 6 has EXDATE "tomorrow"`)
	f(of(start, "DTEND;VALUE=DATE:20251231"), "line 4 has an event that ends before it begins")
	f(of(start, "DTEND;VALUE=DATE:20290101"), "line 4 has an event that lasts longer than a year")
	f(of("DTSTART;VALUE=DATE:00010101"), "line 3 has an event of the year 1;")
	f(of(start, "DURATION:2D"), `line 4 has DURATION "2D", which is not like P2D`)
	f(of(start, "DURATION;X:P2D"), `line 4 has the parameter "X" without a value`)
	f(of(start, "RRULE:FREQ=HOURLY"), "line 4 has a rule with FREQ=HOURLY, which is not understood")
	f(of(start, "RRULE:FREQ=YEARLY;BYSETPOS=-1;BYDAY=MO"), "line 4 has a rule with BYSETPOS=-1, which is not understood; write the dates out instead")
	f(of(start, "RRULE:INTERVAL=2"), "line 4 has a rule without FREQ")
	f(of(start, "RRULE:FREQ=DAILY;COUNT=3;UNTIL=20260301"), "line 4 has a rule with both COUNT and UNTIL")
	f(of(start, "RRULE:FREQ=WEEKLY;BYDAY=2MO"), "line 4 has a rule that counts days of the week")
	f(of(start, "RRULE:FREQ=YEARLY;UNTIL=soon"), "line 4 has UNTIL=soon, which is no date")
	f(of(start, "RRULE:FREQ=YEARLY", "RRULE:FREQ=DAILY"), "line 5 is a second rule of one event")
	f(of(start, "EXRULE:FREQ=YEARLY"), "line 4 has EXRULE, which is not understood")
	f(of(start, "RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20260101"), "line 4 moves this and all later days")
	_, err := Import(t.Context(), of(start, "RRULE:FREQ=DAILY"), Options{From: newYear, Years: 6})
	if want := "file has 2192 dates from 2026-01-01 on; a calendar keeps at most 2000"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	f([]byte(strings.Repeat("x", MaxFile+1)), "file has 4194305 bytes")
	// More than one problem is told at once, but not all of a thousand.
	many := "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nDTSTART:x\nEND:VEVENT\n", 1000) + "END:VCALENDAR\n"
	_, err = Import(t.Context(), []byte(many), Options{From: newYear})
	if n := len(job.Problems(err)); n != maxProblems {
		t.Errorf("%d problems are told, want %d", n, maxProblems)
	}
	busy := "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nDTSTART:19000101\nRRULE:FREQ=YEARLY;BYDAY=1MO\nEND:VEVENT\n", maxEvents) + "END:VCALENDAR\n"
	f([]byte(busy), "file has too many events that recur")
	never := "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nDTSTART:20260101\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\n", maxEvents) + "END:VCALENDAR\n"
	f([]byte(never), "file has too many events that recur")
}

func FuzzImport(f *testing.F) {
	for _, name := range []string{"google.ics", "apple.ics", "outlook.ics"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Import(t.Context(), data, Options{From: newYear, Years: 1})
		if err != nil {
			if len(job.Problems(err)) == 0 {
				t.Fatalf("%v is no *job.InvalidError", err)
			}
			return
		}
		if err := (job.Calendar{Calendar: "x", Zone: c.Zone, Dates: c.Dates, Windows: c.Windows}).Validate(); err != nil {
			t.Fatalf("made a calendar that is refused: %v", err)
		}
	})
}

func TestAnImportEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := Import(ctx, of("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=YEARLY"), Options{From: newYear}); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
}
