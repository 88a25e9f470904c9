package crontab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func wrapping() Wrapping {
	return Wrapping{Options: Options{Group: "ops", Zone: "UTC"}, Program: "/bin/carillon", Host: "web1", Grace: 10 * time.Minute, File: "crontab of ada"}
}

// wrapped wraps a crontab, and shows that a second time changes nothing, and that it can be undone.
func wrapped(t *testing.T, text string, change ...func(*Wrapping)) (string, []Line) {
	t.Helper()
	w := wrapping()
	for _, c := range change {
		c(&w)
	}
	out, lines, err := Wrap(t.Context(), []byte(text), w)
	if err != nil {
		t.Fatal(err)
	}
	again, lines2, err := Wrap(t.Context(), out, w)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(out), string(again)); d != "" {
		t.Errorf("a second time: %s", d)
	}
	for i := range lines {
		if i < len(lines2) && (lines[i].Outcome != lines2[i].Outcome || lines[i].Job.Job != lines2[i].Job.Job || !cmp.Equal(lines[i].Job.Schedule, lines2[i].Job.Schedule)) {
			t.Errorf("a second time line %+v is %+v", lines[i], lines2[i])
		}
	}
	back, _ := Unwrap(out, w.System)
	if d := cmp.Diff(text, string(back)); d != "" {
		t.Errorf("undone: %s", d)
	}
	return string(out), lines
}

func TestLinesAreWrappedAndAllElseStays(t *testing.T) {
	text := "# a comment\r\n" +
		"SHELL=/bin/bash\n MAILTO = \"a@b\" \n\n" +
		"*/5 * * * *\t /opt/a.sh  --x 'it''s' \n" +
		"  30 2 * * 1-5 mail -s \"$(date +\\%F)\" ops%Hello%it's 50\\%%\n" +
		"CRON_TZ=Europe/Berlin\nRANDOM_DELAY=30\n" +
		"# name: nightly\n-0 3 * * * /opt/b.sh\n" +
		"@reboot /opt/c.sh\n@daily /opt/b.sh\n@daily /opt/b.sh\n~ 4 * * * /opt/d.sh\n0 5 * * * -ns /opt/e.sh"
	out, lines := wrapped(t, text)
	want := "# a comment\r\n" +
		"SHELL=/bin/bash\n" +
		" MAILTO = \"a@b\" \n" +
		"\n" +
		"*/5 * * * *\t /bin/carillon watch ops/web1-a-0cf26b -c '/opt/a.sh  --x '\\''it'\\'''\\''s'\\'' '\n" +
		"  30 2 * * 1-5 /bin/carillon watch ops/web1-mail-4d9138 -c 'mail -s \"$(date +\\%F)\" ops'%Hello%it's 50\\%%\n" +
		"CRON_TZ=Europe/Berlin\n" +
		"RANDOM_DELAY=30\n" +
		"# name: nightly\n" +
		"-0 3 * * * /bin/carillon watch ops/web1-nightly -c '/opt/b.sh'\n" +
		"@reboot /bin/carillon watch ops/web1-c-19a968 -c '/opt/c.sh'\n" +
		"@daily /bin/carillon watch ops/web1-b-131f80 -c '/opt/b.sh'\n" +
		"@daily /bin/carillon watch ops/web1-b-131f80-2 -c '/opt/b.sh'\n" +
		"~ 4 * * * /bin/carillon watch ops/web1-d-8a1038 -c '/opt/d.sh'\n" +
		"0 5 * * * -ns /bin/carillon watch ops/web1-e-ea6098 -c '/opt/e.sh'"
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.Number, " ", l.Outcome, " ", l.Job.Schedule.Cron, " ", l.Job.Schedule.Zone, " ", l.Job.Task.Watch.Grace, " ", l.Job.Description, " ", l.Note))
	}
	if d := cmp.Diff([]string{
		"5 wrapped */5 * * * * UTC 10m Line 5 of crontab of ada ",
		"6 wrapped 30 2 * * 1-5 UTC 10m Line 6 of crontab of ada ",
		"10 wrapped 0 3 * * * Europe/Berlin 40m Line 10 of crontab of ada ",
		"11 wrapped   40m Line 11 of crontab of ada without schedule: a run is never missed",
		"12 wrapped @daily Europe/Berlin 40m Line 12 of crontab of ada ",
		"13 wrapped @daily Europe/Berlin 40m Line 13 of crontab of ada ",
		"14 wrapped   40m Line 14 of crontab of ada without schedule, since cron chooses the time at random: a run is never missed",
		"15 wrapped 0 5 * * * Europe/Berlin 40m Line 15 of crontab of ada ",
	}, got); d != "" {
		t.Error(d)
	}
}

func TestASystemCrontabKeepsItsUsers(t *testing.T) {
	system := func(w *Wrapping) { w.System, w.Host = true, "" }
	out, lines := wrapped(t, "# name: backup\n0 3 * * *\troot\tcd / && x\n", system)
	if want := "# name: backup\n0 3 * * *\troot\t/bin/carillon watch ops/backup -c 'cd / && x'\n"; out != want {
		t.Error(cmp.Diff(want, out))
	}
	if d := lines[0].Job.Description; d != "Line 2 of crontab of ada, which cron runs as root" {
		t.Error(d)
	}
}

func TestNamesInLinesStayWhatever(t *testing.T) {
	w := wrapping()
	first, _ := wrapped(t, "@daily /opt/b.sh\n@daily /opt/b.sh\n")
	names := func(text string) (all []job.Name) {
		_, lines, err := Wrap(t.Context(), []byte(text), w)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			all = append(all, l.Job.Job)
		}
		return all
	}
	before := names(first)
	_, second, _ := strings.Cut(first, "\n")
	if after := names(second + "@daily /opt/b.sh\n"); after[0] != before[1] || after[1] != before[0] {
		t.Errorf("%v, then %v", before, after)
	}
	moved := w
	moved.Program = "/usr/bin/carillon"
	out, _, err := Wrap(t.Context(), []byte(first), moved)
	if want := strings.ReplaceAll(first, "/bin/carillon", "/usr/bin/carillon"); err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWhatCannotBeWrappedIsLeftAloneWithTheReason(t *testing.T) {
	f := func(text, why string) {
		t.Helper()
		out, lines := wrapped(t, text)
		last := lines[len(lines)-1]
		begin, line, _ := cutLast(text)
		if want := begin + aloneMark + why + "\n" + line; last.Outcome != LeftAlone || last.Note != why || out != want {
			t.Errorf("%s: %q\n%s", last.Outcome, last.Note, cmp.Diff(want, out))
		}
	}
	f("SHELL=/usr/bin/fish\n@daily x\n", "its SHELL is /usr/bin/fish, for which a command cannot be quoted")
	f("# name: Not good\n@daily x\n", `name "web1-Not good" must be 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit`)
	f("0 25 * * * x\n", `hour "25" must be a number from 0 to 23`)

	room := MaxCommand - len("/bin/carillon watch ops/web1-x -c ''")
	long := "# name: x\n@daily " + strings.Repeat("y", room)
	if _, lines := wrapped(t, long); lines[0].Outcome != Wrapped {
		t.Error(lines[0].Note)
	}
	f(long+"y\n", "its command would have 999 bytes, and cron daemons take 998")
}

func TestANameThatSomebodyChoseTwiceIsTakenOnce(t *testing.T) {
	out, _ := wrapped(t, "# name: a\n@daily x\n# name: a\n@daily y\n")
	if want := "# name: a\n@daily /bin/carillon watch ops/web1-a -c 'x'\n# name: a\n" + aloneMark + "the name \"web1-a\" is used on another line already\n@daily y\n"; out != want {
		t.Error(cmp.Diff(want, out))
	}
}

// cutLast divides a text before its last line.
func cutLast(text string) (begin, line string, ok bool) {
	at := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
	return text[:at], text[at:], true
}

func TestWhatCronWouldNotRunStaysAsItIs(t *testing.T) {
	text := "nonsense\n0 5 * * *\n@daily x\n0 1 * * * caf\xe9\n"
	out, lines := wrapped(t, text)
	if strings.Count(out, "carillon") != 1 || !strings.HasPrefix(out, "nonsense\n0 5 * * *\n") || !strings.HasSuffix(out, "\n0 1 * * * caf\xe9\n") {
		t.Error(out)
	}
	var got []string
	for _, l := range lines {
		got = append(got, string(l.Outcome))
	}
	if want := []string{"broken", "broken", "wrapped", "broken"}; !cmp.Equal(got, want) {
		t.Error(got)
	}
}

func TestTwoLinesMayNotReportToOneJob(t *testing.T) {
	out, _ := wrapped(t, "@daily x\n")
	_, _, err := Wrap(t.Context(), []byte(out+out), wrapping())
	if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), "line 2 reports to job ops/web1-x, as line 1 does") {
		t.Error(err)
	}
}

func TestOnlyWhatWasWrappedHereIsUnwrapped(t *testing.T) {
	for _, text := range []string{
		"@daily carillon watch ops/x -- y\n", "@daily /bin/other watch ops/x -c 'y'\n", "@daily carillon watch ops/x -c 'y' && z\n",
		"@daily carillon watch ops/x -c 'y\n", "@daily carillon watch x -c 'y'\n", "@daily a 'b' carillon watch ops/x -c 'y'\n",
	} {
		if out, lines := Unwrap([]byte(text), false); string(out) != text || len(lines) != 0 {
			t.Errorf("%q becomes %q", text, out)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for _, seed := range []string{"@daily x\n", "0 1 * * * a\\%b%c'd\n", "* * * * * 'a\\'\n", "A=b\n# name: x\n@reboot y\\", "-@daily \\\\'%\\'"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, system bool) {
		w := wrapping()
		w.System = system
		out, _, err := Wrap(t.Context(), []byte(text), w)
		if err != nil || strings.Contains(text, aloneMark) || strings.Contains(text, "carillon") {
			return
		}
		if again, _, err := Wrap(t.Context(), out, w); err != nil || string(again) != string(out) {
			t.Errorf("a second time: %v\n%q\n%q", err, out, again)
		}
		if back, _ := Unwrap(out, system); string(back) != text {
			t.Errorf("undone: %q, want %q", back, text)
		}
	})
}
