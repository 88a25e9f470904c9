package top

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// wholeLines is the width of a frame for a file or a pipe: no line is cut.
const wholeLines = math.MaxInt

// frame draws a view in width columns and, unless it is 0, at most height lines: then
// lists are cut short, and say by how much.
func (v *topView) frame(width, height int) string {
	whole := width == wholeLines
	head := draw.Table{Clock: v.clock, Whole: whole}
	head.Line(fmt.Sprintf("carillon top  %s  %s", v.Server, head.Instant(v.At)))
	runs := func(s job.Status) string { return v.orUnknown(partRuns(s), strconv.Itoa(v.Alive[s])) }
	head.Line(fmt.Sprintf("%s  %s fires/s  %s running  %s pending  %s queued", v.orUnknown(partJobs, draw.Count(v.Jobs, "job")),
		v.orUnknown(partFires, strconv.FormatFloat(v.FiresPerSecond, 'f', 1, 64)), runs(job.StatusRunning), runs(job.StatusPending), runs(job.StatusQueued)))
	head.Line(fmt.Sprintf("fired late    p50 %s  p99 %s   waited p50 %s  p99 %s   (5 min)",
		millis(v.Lateness.Committed, v.Lateness.Committed.P50), millis(v.Lateness.Committed, v.Lateness.Committed.P99),
		millis(v.Lateness.Started, v.Lateness.Started.P50), millis(v.Lateness.Started, v.Lateness.Started.P99)))
	head.Line("history       " + v.shownHistory())
	for _, m := range v.Missing {
		head.Line("! no answer   " + head.Cell(m, 200))
	}
	if n := len(v.Unowned); n > 0 {
		head.Line(fmt.Sprintf("! %s no owner: %s", countAre(n, "shard"), draw.Ranges(v.Unowned)))
	}
	lists := []*draw.Table{v.nodeList(whole), v.groupList(whole), v.failureList(whole)}
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
func shares(lists []*draw.Table, lines int) []int {
	room := make([]int, len(lists))
	left := lines - len(lists)
	for given := true; given && left > 0; {
		given = false
		for i, list := range lists {
			if left > 0 && room[i] < len(list.Rows) {
				room[i]++
				left--
				given = true
			}
		}
	}
	for i := range room {
		if room[i] == 1 && len(lists[i].Rows) > 1 {
			room[i] = 0
		}
	}
	return room
}

// shorten keeps n lines. The last one says how many more there are.
func shorten(rows []string, n int) []string {
	if n < 2 {
		return nil
	}
	return append(rows[:n-1:n-1], fmt.Sprintf("  … and %d more", len(rows)-n+1))
}

func (v *topView) nodeList(whole bool) *draw.Table {
	t := draw.Table{Clock: v.clock, Whole: whole}
	t.Row("NODE", "SHARDS", "WHICH")
	for _, n := range v.Nodes {
		t.Row(t.Cell(n.Node, 40), strconv.Itoa(len(n.Shards)), t.Cell(draw.Ranges(n.Shards), draw.NoteWidth))
	}
	return &t
}

func (v *topView) groupList(whole bool) *draw.Table {
	t := draw.Table{Clock: v.clock, Whole: whole}
	t.Row("GROUP", "STATE", "INSTANCES", "BUSY", "PENDING")
	for _, g := range v.Groups {
		t.Row(t.Cell(g.Group, 40), g.State, strconv.Itoa(g.Instances), fmt.Sprintf("%d/%d", g.Busy, g.Slots), strconv.Itoa(g.Pending))
	}
	return &t
}

func (v *topView) failureList(whole bool) *draw.Table {
	t := draw.Table{Clock: v.clock, Whole: whole}
	if v.unknown[partFailures] {
		t.Line("failures unknown")
		return &t
	}
	if len(v.Failures) == 0 {
		t.Line("no failures")
		return &t
	}
	t.Row("FAILED", "FIRE TIME", "STATUS", "WHY")
	for _, r := range v.Failures {
		t.Row(t.Cell(string(r.Job), 40), t.Instant(r.FireTime), string(r.Status), t.Cell(string(r.Message), draw.NoteWidth))
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
	parts := []string{draw.Bytes(v.History.Bytes)}
	for _, b := range v.History.Backlog {
		part := fmt.Sprintf("%s %d behind", b.Stream, b.Messages)
		if b.Unavailable {
			part = b.Stream + " unknown"
		}
		if b.Messages > 0 && !b.Since.IsZero() {
			part += " since " + v.clock.Format(b.Since, "15:04:05Z07:00")
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
		return draw.Count(n, thing) + " has"
	}
	return draw.Count(n, thing) + " have"
}

// linesOf returns a table's lines, none wider than width.
func linesOf(t *draw.Table, width int) []string {
	var b strings.Builder
	_ = t.Write(&b) // to memory
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, l := range lines {
		if utf8.RuneCountInString(l) > width {
			lines[i] = string([]rune(l)[:max(width-1, 0)]) + "…"
		}
	}
	return lines
}
