package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/job"
	"carillon/job/runlog"
)

// wholeLines is the width of a frame for a file or a pipe: no line is cut.
const wholeLines = math.MaxInt

// frame draws a view in width columns and, unless it is 0, at most height lines: then
// lists are cut short, and say by how much.
func (v *topView) frame(width, height int) string {
	whole := width == wholeLines
	head := table{whole: whole}
	head.line(fmt.Sprintf("carillon top  %s  %s", v.Server, instant(v.At)))
	runs := func(s job.Status) string { return v.orUnknown(partRuns(s), strconv.Itoa(v.Alive[s])) }
	head.line(fmt.Sprintf("%s  %s fires/s  %s running  %s pending  %s queued", v.orUnknown(partJobs, countOf(v.Jobs, "job")),
		v.orUnknown(partFires, strconv.FormatFloat(v.FiresPerSecond, 'f', 1, 64)), runs(job.StatusRunning), runs(job.StatusPending), runs(job.StatusQueued)))
	head.line(fmt.Sprintf("late by       p50 %s  p99 %s to commit   p50 %s  p99 %s to begin   (5 min)",
		millis(v.Lateness.Committed, v.Lateness.Committed.P50), millis(v.Lateness.Committed, v.Lateness.Committed.P99),
		millis(v.Lateness.Started, v.Lateness.Started.P50), millis(v.Lateness.Started, v.Lateness.Started.P99)))
	head.line("history       " + v.shownHistory())
	for _, m := range v.Missing {
		head.line("! no answer   " + head.cell(m, 200))
	}
	if n := len(v.Unowned); n > 0 {
		head.line(fmt.Sprintf("! %s no owner: %s", countAre(n, "shard"), ranges(v.Unowned)))
	}
	lists := []*table{v.nodeList(whole), v.groupList(whole), v.failureList(whole)}
	lines := linesOf(&head, width)
	room := shares(lists, height-len(lines))
	for i, list := range lists {
		rows := linesOf(list, width)
		if height > 0 && len(rows) > room[i] {
			rows = shorten(rows, room[i])
		}
		if height == 0 || room[i] > 0 {
			lines = append(append(lines, ""), rows...)
		}
	}
	if height > 0 && len(lines) > height {
		lines = lines[:height]
	}
	return strings.Join(lines, "\n") + "\n"
}

// shares divides the lines that there are among lists, each after an empty one: what a
// short list leaves, long ones have. A list has room for its header and one more line, or
// none at all.
func shares(lists []*table, lines int) []int {
	room := make([]int, len(lists))
	left := lines - len(lists)
	for given := true; given && left > 0; {
		given = false
		for i, list := range lists {
			if left > 0 && room[i] < len(list.rows) {
				room[i]++
				left--
				given = true
			}
		}
	}
	for i := range room {
		if room[i] == 1 && len(lists[i].rows) > 1 {
			room[i] = 0
		}
	}
	return room
}

// shorten keeps n lines, of which the last says how many more there are.
func shorten(rows []string, n int) []string {
	if n < 2 {
		return nil
	}
	return append(rows[:n-1:n-1], fmt.Sprintf("  … and %d more", len(rows)-n+1))
}

func (v *topView) nodeList(whole bool) *table {
	t := table{whole: whole}
	t.row("NODE", "SHARDS", "WHICH")
	for _, n := range v.Nodes {
		t.row(t.cell(n.Node, 40), strconv.Itoa(len(n.Shards)), t.cell(ranges(n.Shards), noteWidth))
	}
	return &t
}

func (v *topView) groupList(whole bool) *table {
	t := table{whole: whole}
	t.row("GROUP", "STATE", "INSTANCES", "BUSY", "PENDING")
	for _, g := range v.Groups {
		t.row(t.cell(g.Group, 40), g.State, strconv.Itoa(g.Instances), fmt.Sprintf("%d/%d", g.Busy, g.Slots), strconv.Itoa(g.Pending))
	}
	return &t
}

func (v *topView) failureList(whole bool) *table {
	t := table{whole: whole}
	if v.unknown[partFailures] {
		t.line("failures unknown")
		return &t
	}
	if len(v.Failures) == 0 {
		t.line("no failures")
		return &t
	}
	t.row("FAILED", "FIRE TIME", "STATUS", "WHY")
	for _, r := range v.Failures {
		t.row(t.cell(string(r.Job), 40), instant(r.FireTime), string(r.Status), t.cell(r.Message, noteWidth))
	}
	return &t
}

// orUnknown returns text, or "?" if the part of the look that it is from is missing.
func (v *topView) orUnknown(part, text string) string {
	if !v.unknown[part] {
		return text
	}
	if part == partJobs {
		return "? jobs"
	}
	return "?"
}

// shownHistory says how far the log store has come.
func (v *topView) shownHistory() string {
	switch {
	case v.unknown[partHistory]:
		return "unknown"
	case !v.History.Answers:
		return "the log store does not answer; jobs keep firing"
	}
	parts := []string{size(v.History.Bytes)}
	for _, b := range v.History.Backlog {
		part := fmt.Sprintf("%s %d behind", b.Stream, b.Messages)
		if b.Messages > 0 && !b.Since.IsZero() {
			part += " since " + b.Since.UTC().Format("15:04:05Z")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "  ")
}

func millis(s runlog.Spread, d time.Duration) string {
	if s.Count == 0 {
		return "-"
	}
	return d.Round(time.Millisecond).String()
}

func countAre(n int, thing string) string {
	if n == 1 {
		return countOf(n, thing) + " has"
	}
	return countOf(n, thing) + " have"
}

// linesOf returns a table's lines, none wider than width.
func linesOf(t *table, width int) []string {
	var b strings.Builder
	_ = t.write(&b) // to memory
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, l := range lines {
		if utf8.RuneCountInString(l) > width {
			lines[i] = string([]rune(l)[:max(width-1, 0)]) + "…"
		}
	}
	return lines
}
