package run

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func drawRuns(t *draw.Table, page client.RunPage) {
	if len(page.Items) == 0 {
		t.Line("no runs")
		return
	}
	DrawRows(t, page.Items)
	if page.Next != "" {
		t.Line("and more; show them with --limit")
	}
}

// DrawRows draws runs, one a row.
func DrawRows(t *draw.Table, runs []client.Run) {
	row := []string{"RUN", "JOB", "STATUS", "CAUSE", "FIRE TIME", "TOOK"}
	if t.Wide {
		row = append(row, "STARTED", "INSTANCE", "EXIT CODE", "LOG LINES", "VERSION", "BY")
	}
	t.Row(append(row, "NOTE")...)
	for _, run := range runs {
		row := []string{
			string(run.RunID), string(run.Job), shownStatus(run), string(run.Cause),
			t.Instant(run.FireTime), draw.Took(run.RunStartedAt(), run.FinishedAt),
		}
		if t.Wide {
			exit := "-"
			if run.ExitCode != nil {
				exit = strconv.Itoa(*run.ExitCode)
			}
			row = append(row, t.Instant(run.RunStartedAt()), t.Cell(run.Instance, 40), exit, strconv.Itoa(run.LogLines), strconv.Itoa(run.Version), t.Cell(run.By, 60))
		}
		t.Row(append(row, t.Cell(runNote(t, run), draw.NoteWidth))...)
	}
}

// runNote tells what is out of the ordinary about a run.
func runNote(t *draw.Table, run client.Run) string {
	var notes []string
	if run.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", run.Attempt))
	}
	if run.Total > 0 && run.Piece == 0 {
		notes = append(notes, draw.Count(run.Total, "piece"))
	}
	if run.Reported {
		notes = append(notes, "reported by "+cmp.Or(strings.TrimPrefix(run.Instance, runlog.HostPrefix), "a ping"))
	}
	if run.Count > 1 {
		notes = append(notes, fmt.Sprintf("%d fires until %s", run.Count, t.Instant(run.Until)))
	}
	if run.Status == job.StatusRunning && (run.Progress > 0 || run.ProgressText != "") {
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("%.0f %% %s", run.Progress, run.ProgressText)))
	}
	for _, text := range []string{string(run.Reason), string(run.Message)} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	return strings.Join(notes, "; ")
}

// drawClocks shows the two clocks of a first attempt: how late the scheduler fired, and how long the run
// waited from its fire time until it started.
func drawClocks(t *draw.Table, run client.Run) {
	if run.Attempt != 1 {
		return
	}
	if at := run.DecidedAt(); !at.IsZero() {
		t.Row("fired late", draw.Took(run.FireTime, at))
	}
	if !run.QueuedAt.IsZero() && !run.CommittedAt.IsZero() {
		t.Row("queued for", draw.Took(run.QueuedAt, run.CommittedAt))
	}
	if run.StartedAt.IsZero() {
		return
	}
	waited := draw.Took(run.FireTime, run.StartedAt)
	if !run.DeliveredAt.IsZero() {
		waited += ", " + draw.Took(run.FireTime, run.DeliveredAt) + " of it for an executor"
	}
	t.Row("waited", waited)
}

func drawRun(t *draw.Table, run client.RunDetail, k kin) {
	t.Row("run", string(run.RunID))
	t.Row("job", string(run.Job))
	t.Row("status", string(run.Status))
	if m := run.Mark; m != nil {
		t.Row("marked", string(m.As)+draw.By(m.By)+" at "+t.Instant(m.At)+": "+t.Cell(m.Note, 300))
	}
	if a := run.Attempts[0]; a.Step != "" {
		t.Row("step", a.Step+" of run "+string(a.Parent))
	}
	if run.RerunOf != "" {
		t.Row("rerun of", string(run.RerunOf))
	}
	if len(run.Params) > 0 {
		t.Row("params", t.Cell(string(run.Params), 300))
	}
	if len(run.Labels) > 0 {
		t.Row("labels", run.Labels.String())
	}
	for _, a := range run.Attempts {
		t.Line("")
		t.Row(fmt.Sprintf("attempt %d", a.Attempt), shownStatus(a))
		t.Row("cause", string(a.Cause)+draw.By(a.By))
		t.Row("fire time", t.Instant(a.FireTime))
		t.Row("started", t.Instant(a.StartedAt))
		t.Row("finished", t.Instant(a.FinishedAt))
		t.Row("took", draw.Took(a.StartedAt, a.FinishedAt))
		drawClocks(t, a)
		t.Row("instance", t.Cell(a.Instance, 100))
		if a.Delivery > 1 {
			t.Row("delivery", fmt.Sprintf("taken %d times", a.Delivery))
		}
		if a.ExitCode != nil {
			t.Row("exit code", strconv.Itoa(*a.ExitCode))
		}
		a.Attempt = 0 // the heading says it
		if note := runNote(t, a); note != "" {
			t.Row("note", t.Cell(note, 300))
		}
		if len(a.Result) > 0 {
			t.Row("result", t.Cell(string(a.Result), 300))
		}
		t.Row("log lines", strconv.Itoa(a.LogLines))
	}
	drawKin(t, k)
	if len(run.Changes) == 0 {
		return
	}
	t.Line("")
	t.Row("AT", "ATTEMPT", "WHAT", "STATUS", "INSTANCE", "DETAIL")
	for _, c := range run.Changes {
		what := string(c.Kind)
		if c.Mark != "" {
			what += " " + string(c.Mark)
		}
		what += draw.By(c.By)
		t.Row(t.Instant(c.At), strconv.Itoa(c.Attempt), what, draw.OrDash(string(c.Status)), t.Cell(c.Instance, 40), t.Cell(string(c.Detail), 300))
	}
}
