package sdk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestALogHasALimitBeyondWhichLinesAreCounted(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		logs := func(cfg executor.Config, text string) (lines []string, counted int) {
			t.Helper()
			i := w.start(fmt.Sprintf("i%d", w.n), cfg, handler(func(ctx context.Context, run *executor.Run) (any, error) {
				out := run.Stdout()
				for line := range strings.SplitAfterSeq(text, "\n") {
					_, _ = out.Write([]byte(line))
				}
				if cfg.MaxLogBytes > 0 {
					run.Log().InfoContext(ctx, "z") // there would be room for it, but not where it stands
				}
				return nil, nil
			}))
			tr := w.trigger()
			time.Sleep(time.Minute)
			i.stop()
			for _, l := range w.lines(tr.RunID) {
				lines = append(lines, string(l.Output)+": "+l.Text)
			}
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
			return lines, w.finished(tr.RunID).LogLines
		}
		want := func(got []string, counted int, want ...string) {
			t.Helper()
			if strings.Join(got, "\n") != strings.Join(want, "\n") || counted != len(want) {
				t.Errorf("%d lines counted, logged:\n%s\nwant:\n%s", counted, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		lines, counted := logs(executor.Config{MaxLogLines: 2}, "a\nb\nc\nd\nrest")
		want(lines, counted, "stdout: a", "stdout: b",
			"system: the log of this attempt is full: it may have 2 lines and 67108864 bytes; what follows is counted and dropped",
			"system: 2 lines of 7 bytes were dropped here: the log was full")
		lines, counted = logs(executor.Config{MaxLogBytes: 6}, "abc\nde\nfgh\n")
		want(lines, counted, "stdout: abc", "stdout: de",
			"system: the log of this attempt is full: it may have 1000000 lines and 6 bytes; what follows is counted and dropped",
			"system: 2 lines of 4 bytes were dropped here: the log was full")
		lines, counted = logs(executor.Config{MaxLogLines: 2}, "a\nb\n")
		want(lines, counted, "stdout: a", "stdout: b")
	})
}
