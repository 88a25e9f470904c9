package ingest

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ping adds what a line of a record made at an instant says of a run that is done elsewhere: what
// events of an executor would, and what the run printed as its log.
func (b *batch) ping(at time.Time, d *journal.Decided) {
	p := d.Ping
	u := logstore.Update{
		RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: d.Attempt, Cause: d.Cause, At: at, Instance: runlog.HostInstance(p.Host), StartedAt: p.StartedAt,
	}
	if d.Status == job.StatusSkipped { // the job is done elsewhere no longer, or was deleted
		u.Kind, u.Status, u.Reason, u.By, u.Instance, u.StartedAt = runlog.KindRecorded, d.Status, d.Reason, cmp.Or(d.By, p.By), "", time.Time{}
		b.update(u)
		return
	}
	if d.Cause == job.CausePing { // no line of a fire came before
		asked := u
		asked.Kind, asked.Status, asked.Instance, asked.StartedAt = runlog.KindRecorded, job.StatusPending, "", time.Time{}
		asked.At, asked.Reason, asked.By = d.FireTime, d.Reason, cmp.Or(d.By, p.By)
		b.update(asked)
	}
	if d.Status == job.StatusRunning {
		u.Kind, u.Reason = runlog.KindStarted, d.Reason
		if u.StartedAt.IsZero() {
			u.StartedAt = at
		}
		b.update(u)
		return
	}
	u.Kind, u.Status, u.FinishedAt, u.ExitCode, u.Message = runlog.KindFinished, d.Status, p.FinishedAt, p.ExitCode, p.Said()
	if d.Cause != job.CausePing { // what is noted of the end, which may be a late one
		u.Message = reason.Join(p.Said(), d.Reason)
	}
	lines := linesOf(d, cmp.Or(p.FinishedAt, at))
	u.LogLines = len(lines)
	b.update(u)
	for i := range lines {
		if err := lines[i].Validate(); err != nil {
			b.refuse(err)
			return
		}
	}
	b.lines = append(b.lines, lines...)
}

// linesOf returns what a run printed, by the ping of its end at an instant.
func linesOf(d *journal.Decided, at time.Time) (lines []runlog.Line) {
	add := func(level bus.Level, output bus.Output, text string) {
		lines = append(lines, runlog.Line{
			RunID: d.RunID, Job: d.Job, Attempt: d.Attempt, Seq: int64(len(lines) + 1), At: at, Level: string(level), Output: string(output), Text: text,
		})
	}
	if text := strings.TrimSuffix(d.Ping.Output, "\n"); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			for line = strings.TrimSuffix(line, "\r"); ; {
				n := fitting(line, bus.MaxLogText)
				add(bus.LevelInfo, bus.OutputStdout, line[:n])
				if line = line[n:]; line == "" {
					break
				}
			}
		}
	}
	if cut := d.Ping.OutputCut; cut > 0 {
		add(bus.LevelWarn, bus.OutputSystem, fmt.Sprintf("%d bytes of the output were left out", cut))
	}
	return lines
}

// fitting returns how many bytes of s make up to most of them, without cutting a character in two.
func fitting(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	for end := most; end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(s[end]) {
			return end
		}
	}
	return most
}
