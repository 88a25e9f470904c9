package main

import (
	"carillon/internal/client"
	"carillon/job"
	"fmt"
	"strconv"
	"strings"
	"time"
)

func drawRuns(t *table, page client.RunPage) {
	if len(page.Items) == 0 {
		t.line("no runs")
		return
	}
	drawRunRows(t, page.Items)
	if page.Next != "" {
		t.line("and more; show them with --limit")
	}
}

func drawRunRows(t *table, runs []client.Run) {
	t.row("RUN", "JOB", "STATUS", "CAUSE", "FIRE TIME", "TOOK", "NOTE")
	for _, run := range runs {
		t.row(string(run.RunID), string(run.Job), shownStatus(run), string(run.Cause),
			instant(run.FireTime), took(run.StartedAt, run.FinishedAt), t.cell(runNote(run), noteWidth))
	}
}

// runNote tells what is out of the ordinary about a run.
func runNote(run client.Run) string {
	var notes []string
	if run.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", run.Attempt))
	}
	if run.Total > 0 && run.Piece == 0 {
		notes = append(notes, countOf(run.Total, "piece"))
	}
	if run.Count > 1 {
		notes = append(notes, fmt.Sprintf("%d fires until %s", run.Count, instant(run.Until)))
	}
	if run.Status == job.StatusRunning && (run.Progress > 0 || run.ProgressText != "") {
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("%.0f %% %s", run.Progress, run.ProgressText)))
	}
	for _, text := range []string{run.Reason, run.Message} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	return strings.Join(notes, "; ")
}

// latenessOf tells how long after the fire time the stages of a first attempt were, as far
// as they are known.
func latenessOf(run client.Run) string {
	if run.Attempt != 1 {
		return ""
	}
	var stages []string
	for _, s := range []struct {
		at    time.Time
		stage string
	}{{run.CommittedAt, "to commit"}, {run.DeliveredAt, "to deliver"}, {run.StartedAt, "to start"}} {
		if !s.at.IsZero() {
			stages = append(stages, took(run.FireTime, s.at)+" "+s.stage)
		}
	}
	return strings.Join(stages, ", ")
}

func drawRun(t *table, run client.RunDetail, k kin) {
	t.row("run", string(run.RunID))
	t.row("job", string(run.Job))
	t.row("status", string(run.Status))
	if m := run.Mark; m != nil {
		t.row("marked", string(m.As)+by(m.By)+" at "+instant(m.At)+": "+t.cell(m.Note, 300))
	}
	if run.RetryOf != "" {
		t.row("rerun of", string(run.RetryOf))
	}
	if len(run.Params) > 0 {
		t.row("params", t.cell(string(run.Params), 300))
	}
	if len(run.Labels) > 0 {
		t.row("labels", run.Labels.String())
	}
	for _, a := range run.Attempts {
		t.line("")
		t.row(fmt.Sprintf("attempt %d", a.Attempt), shownStatus(a))
		t.row("cause", string(a.Cause)+by(a.By))
		t.row("fire time", instant(a.FireTime))
		t.row("started", instant(a.StartedAt))
		t.row("finished", instant(a.FinishedAt))
		t.row("took", took(a.StartedAt, a.FinishedAt))
		if late := latenessOf(a); late != "" {
			t.row("late by", late)
		}
		t.row("instance", t.cell(a.Instance, 100))
		if a.ExitCode != nil {
			t.row("exit code", strconv.Itoa(*a.ExitCode))
		}
		a.Attempt = 0 // the heading says it
		if note := runNote(a); note != "" {
			t.row("note", t.cell(note, 300))
		}
		if len(a.Result) > 0 {
			t.row("result", t.cell(string(a.Result), 300))
		}
		t.row("log lines", strconv.Itoa(a.LogLines))
	}
	drawKin(t, k)
	if len(run.Changes) == 0 {
		return
	}
	t.line("")
	t.row("AT", "ATTEMPT", "WHAT", "STATUS", "INSTANCE", "DETAIL")
	for _, c := range run.Changes {
		what := string(c.Kind)
		if c.Mark != "" {
			what += " " + string(c.Mark) + by(c.By)
		}
		t.row(instant(c.At), strconv.Itoa(c.Attempt), what, orDash(string(c.Status)), t.cell(c.Instance, 40), t.cell(c.Detail, 300))
	}
}
