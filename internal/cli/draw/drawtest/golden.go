package drawtest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/goldentest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Golden compares what fill makes with testdata/name.golden.
func Golden(t *testing.T, name string, fill func(*draw.Table)) {
	t.Helper()
	table(t, name, draw.Table{}, fill)
}

// Wide compares what fill makes of a wide table with testdata/name.golden.
func Wide(t *testing.T, name string, fill func(*draw.Table)) {
	t.Helper()
	table(t, name, draw.Table{Wide: true, Whole: true}, fill)
}

func table(t *testing.T, name string, tab draw.Table, fill func(*draw.Table)) {
	t.Helper()
	fill(&tab)
	var b strings.Builder
	if err := tab.Write(&b); err != nil {
		t.Fatal(err)
	}
	Text(t, name, b.String())
}

// Text compares a text with testdata/name.golden.
func Text(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Text(t, filepath.Join("testdata", name+".golden"), got)
}

// At returns an instant of the day on which all examples are, as in "03:00:00.012".
func At(clock string) time.Time {
	t, err := time.Parse("15:04:05.000", clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 2, 0)
}

// Runs has one run of each kind that looks different.
func Runs() []client.Run {
	id := func(n string) job.RunID { return job.RunID("019b76da-a800-7c3e-9d5b-0f4e2a6c8b" + n) }
	code := 1
	return []client.Run{
		{RunID: id("01"), Job: "ops/backup", Attempt: 1, Status: job.StatusSucceeded, Cause: job.CauseSchedule, FireTime: At("03:00:00.000"), StartedAt: At("03:00:00.012"), FinishedAt: At("03:04:41.500"), Count: 1, Instance: "a1", LogLines: 7},
		{RunID: id("02"), Job: "ops/report", Attempt: 2, Status: job.StatusFailed, Cause: job.CauseManual, FireTime: At("03:00:01.000"), StartedAt: At("03:00:01.000"), FinishedAt: At("03:00:03.250"), Count: 1, Message: reason.Text("exit code 1:\x1b[31m no such\nfile, " + strings.Repeat("and so on ", 10)), By: "ada", ExitCode: &code},
		{RunID: id("03"), Job: "ops/pulse", Attempt: 1, Status: job.StatusMissed, Cause: job.CauseSchedule, FireTime: At("02:00:00.000"), Count: 360, Until: At("02:59:50.000"), Reason: "noticed too late"},
		{RunID: id("04"), Job: "ops/sweep", Attempt: 1, Status: job.StatusRunning, Cause: job.CauseMisfire, FireTime: At("03:05:00.000"), StartedAt: At("03:05:00.900"), Count: 1, Progress: 40, ProgressText: "file 4 of 10"},
		{RunID: id("05"), Job: "ops/日本", Attempt: 1, Status: job.StatusPending, Cause: job.CauseAPI, FireTime: At("03:06:00.000"), Count: 1},
	}
}
