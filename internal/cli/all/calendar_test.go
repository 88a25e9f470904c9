package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestACalendarFileIsImportedAfterALook(t *testing.T) {
	s := clitest.New(t)
	now := time.Now().UTC()
	year := now.Year() // of the next 4 July
	if now.Format("01-02") >= "07-04" {
		year++
	}
	file := func(name string, events ...string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		text := "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Closed\r\nX-WR-TIMEZONE:Europe/Berlin\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	event := func(lines ...string) string {
		return "BEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\n"
	}
	xmas := event("SUMMARY:Christmas", "DTSTART;VALUE=DATE:20201225", "RRULE:FREQ=YEARLY")
	move := event("SUMMARY:Move", fmt.Sprintf("DTSTART;VALUE=DATE:%d0704", year))
	lunch := event("SUMMARY:Lunch", "DTSTART:20260101T120000Z", "DTEND:20260101T130000Z")
	first := file("a.ics", xmas, lunch)

	table := "LINE  OUTCOME   DATES  EVENT      NOTE\n" +
		"4     imported  12-25  Christmas  -\n" +
		"9     left_out  -      Lunch      it lasts part of a day, and a calendar has whole days\n\n"
	s.Want(table+"It affects no fire within a year; jobs that refer to it: 0\n"+
		"calendar closed created: 1 date, 0 windows, zone Europe/Berlin; 1 of 2 events left out (dry run: nothing was saved)\n",
		"", "import", "calendar", first, "--name", "closed", "--dry-run")
	s.Want("no calendars\n", "", "get", "calendars")
	s.Want(table+"It affects no fire within a year; jobs that refer to it: 0\n"+
		"calendar closed created: 1 date, 0 windows, zone Europe/Berlin; 1 of 2 events left out\n", "", "import", "calendar", first, "--name", "closed")

	if code, _, e := s.Run("job: default/x\nschedule: {cron: \"0 12 4 7 *\", zone: Europe/Berlin, except: [closed]}\ntask: {shell: \"true\"}\n", "apply", "-f", "-"); code != 0 {
		t.Fatal(e)
	}
	second := file("b.ics", move)
	s.Want(fmt.Sprintf("LINE  OUTCOME   DATES       EVENT  NOTE\n4     imported  %d-07-04  Move   -\n\n"+
		"default/x: 1 more fire will be skipped\nWithin a year 1 more fire will be skipped\n"+
		"calendar closed changed: 1 date, 0 windows, zone Europe/Berlin; 0 of 1 event left out (dry run: nothing was saved)\n", year),
		"", "import", "calendar", second, "--name", "closed", "--replace", "--dry-run")
	s.Want(fmt.Sprintf("calendar: closed\ndescription: Closed\nzone: Europe/Berlin\ndates:\n  - \"%d-07-04\"\n", year), "", "import", "calendar", second, "--name", "closed", "-o", "yaml")

	bad := file("c.ics", xmas, event("DTSTART;VALUE=DATE:20200101", "RRULE:FREQ=SECONDLY"))
	s.WantError(cli.ExitError, "carillon: "+bad+": line 11 has a rule with FREQ=SECONDLY, which is not understood\nnothing was changed", "", "import", "calendar", bad, "--name", "closed")
	s.WantError(cli.ExitUsage, "carillon: set the name of the calendar with --name", "", "import", "calendar", bad)
	s.WantError(cli.ExitUsage, "carillon: --years 0 must be at least 1", "", "import", "calendar", bad, "--name", "x", "--years", "0")

	out := filepath.Join(t.TempDir(), "d.zip")
	code, told, e := s.Run("", "diagnostics", "--out", out)
	data, err := os.ReadFile(out)
	if code != 0 || err != nil || !strings.HasPrefix(string(data), "PK") || told != fmt.Sprintf("%s written, %d bytes\n", out, len(data)) {
		t.Errorf("exit code %d, %v: %s%s", code, err, told, e)
	}
	s.WantError(cli.ExitError, "carillon: write diagnostics: open "+out, "", "diagnostics", "--out", out) // what is there is not written over
}
