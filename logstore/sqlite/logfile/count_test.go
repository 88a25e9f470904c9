package logfile

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestALineThatIsInSeveralChunksCountsOnce(t *testing.T) {
	folder, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	day := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	keep := logstore.DefaultRetention()
	write := func(fire time.Time, from, to int64) {
		t.Helper()
		name := job.Name("billing/report")
		var lines []runlog.Line
		for seq := from; seq <= to; seq++ {
			lines = append(lines, runlog.Line{RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Attempt: 1, Seq: seq, At: fire, Level: "info", Output: "stdout"})
		}
		if err := folder.Write(t.Context(), lines, &keep); err != nil {
			t.Fatal(err)
		}
	}
	write(day, 1, 10)
	write(day, 4, 12)
	write(day, 20, 21)
	write(day.Add(time.Hour), 1, 3)
	write(day.Add(logstore.Day), 1, 100)
	keep.Default.Logs = job.Duration(80 * logstore.Day)
	write(day, 11, 14) // the job's class has changed, so these are in another file
	if n, err := folder.CountLines(t.Context(), day); n != 14+2+3 || err != nil {
		t.Errorf("%d lines, %v; want 19", n, err)
	}
}
