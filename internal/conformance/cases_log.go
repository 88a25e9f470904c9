package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// The bounds of a batch of lines.
const (
	maxBatchLines = 201 // 200 lines, and one with the number of dropped lines
	maxBatchBytes = 256 << 10
)

var logCases = []Case{
	{Name: "lines", Passage: "Log lines", Rule: "lines are numbered from 1 without a gap, in batches of at most 200 lines, one after the other, and all are there before the end", run: func(t *test) {
		t.do(func() { t.silentLog = true })
		g := t.trigger("lines", map[string]any{"count": 5000}).pulled(1)
		if _, ok := t.await(t.ctx, g.mark, 1, seconds, g.isLog); !ok {
			g.failf("no lines")
		}
		t.wait(600 * time.Millisecond) // not so long that lines may be dropped
		if n := len(g.since(g.mark, g.isLog)); n > 1 {
			g.failf("it sent %d batches, and the first was not acknowledged", n)
		}
		t.answerLogs()
		e := g.ended(4 * seconds)
		g.want(e, job.StatusSucceeded, "")
		lines := g.lines()
		if len(lines) != 5000 || e.LogLines != 5000 {
			g.failf("%d lines came, log_lines is %d; want 5000", len(lines), e.LogLines)
		}
		for i, line := range lines {
			if line.Seq != int64(i+1) || line.Text != fmt.Sprintf("line %d", i+1) {
				g.failf("line %d is number %d, %q", i+1, line.Seq, line.Text)
			}
		}
		end := g.events(bus.EventFinished)[0].at
		for _, h := range g.since(g.mark, g.isLog) {
			if h.at.After(end) {
				g.failf("lines came after the finished event")
			}
		}
	}},
	{Name: "lines-of-redelivery", Passage: "Log lines", Level: Robust, Rule: "of a trigger that was delivered for the second time, lines are numbered from 1,000,000,001", run: func(t *test) {
		g := t.trigger("lines", map[string]any{"count": 3})
		g.offered(2)
		if e := g.ended(seconds); e.Delivery != 2 || e.LogLines != 3 {
			g.failf("delivery of its end is %d and log_lines %d, want 2 and 3", e.Delivery, e.LogLines)
		}
		lines := g.lines()
		if len(lines) != 3 || lines[0].Seq != 1_000_000_001 {
			g.failf("lines are %+v", lines)
		}
	}},
	{Name: "long-line", Passage: "Log lines", Level: Robust, Rule: "a text has at most 32 KiB; a longer line becomes several", run: func(t *test) {
		g := t.trigger("long", nil).pulled(1)
		g.ended(2 * seconds)
		n := 0
		for _, line := range g.lines() {
			n += strings.Count(line.Text, "x")
			if len(line.Text) > bus.MaxLogText || strings.ContainsAny(line.Text, "\r\n") || !utf8.ValidString(line.Text) {
				g.failf("a text has %d bytes, or is not one line of UTF-8", len(line.Text))
			}
		}
		if n != 100_000 {
			g.failf("%d of 100,000 characters came", n)
		}
	}},
	{Name: "lines-small-payload", Passage: "Log lines", Level: Robust, Payload: 12 << 10, Rule: "lines that do not fit into one message that NATS takes come in several; a line that does not fit into one is cut", run: func(t *test) {
		for handler, count := range map[string]int{"lines": 1000, "long": 1} {
			g := t.trigger(handler, map[string]any{"count": count}).pulled(1)
			g.want(g.ended(seconds), job.StatusSucceeded, "")
			lines := g.lines()
			if len(lines) < count {
				g.failf("%d lines came, want %d", len(lines), count)
			}
			for i, line := range lines {
				if line.Seq != int64(i+1) {
					g.failf("line %d is number %d", i+1, line.Seq)
				}
			}
		}
	}},
	{Name: "log-unanswered", Passage: "Log lines", Level: Robust, Slow: true, Rule: "while no lines are stored, memory is bounded, and the finished event comes within 15 s of the end", run: func(t *test) {
		g := t.trigger("lines", map[string]any{"count": 50_000})
		t.do(func() { t.silentLog = true })
		g.pulled(1)
		e := g.ended(2 * time.Minute) // so many lines take a busy machine a while
		if late := g.since(g.mark, g.isEvent(bus.EventFinished))[0].at.Sub(e.FinishedAt); late > lingers+10*time.Second {
			g.failf("the finished event came %s after the end, at most %s", late, lingers)
		}
		g.answered("+ACK", 30*time.Second) // lines may be offered for a while longer
	}},
	{Name: "lines-dropped", Passage: "Log lines", Level: Robust, Rule: "one `system` line takes the place of lines that were dropped: it says how many, and has the number of the last of them", run: func(t *test) {
		// An executor on a busy machine may take longer to write the lines: then none are dropped.
		for _, silence := range []time.Duration{4 * time.Second, 8 * time.Second, 12 * time.Second} {
			if t.dropLines(50_000, silence) {
				return
			}
		}
		t.failf("no lines were dropped, though none were acknowledged for 12 s")
	}},
}

// dropLines has an executor write lines that are not acknowledged for a while, and reports whether it
// dropped some.
func (t *test) dropLines(count int, silence time.Duration) bool {
	t.do(func() { t.silentLog = true })
	g := t.trigger("lines", map[string]any{"count": count}).pulled(1)
	if _, ok := t.await(t.ctx, g.mark, 1, seconds, g.isLog); !ok {
		g.failf("no lines")
	}
	t.wait(silence)
	t.answerLogs()
	e := g.ended(2 * time.Minute)
	last, notices, own := int64(0), 0, 0 // own are those with which the executor says something else
	for _, line := range g.lines() {
		if line.Seq <= last {
			continue // a batch that was sent again
		}
		missing := line.Seq - last
		if line.Output == bus.OutputSystem && missing == 1 {
			own++
		}
		if line.Output == bus.OutputSystem && strings.Contains(line.Text, strconv.FormatInt(missing, 10)) {
			notices++
		} else if missing != 1 {
			g.failf("lines %d to %d are missing; the next is %+v", last+1, line.Seq-1, line)
		}
		last = line.Seq
	}
	if e.LogLines < count || e.LogLines > count+own {
		g.failf("log_lines is %d, want %d and at most %d of the executor's own: dropped lines have a number", e.LogLines, count, own)
	}
	if last != int64(e.LogLines) {
		g.failf("the last line is number %d of %d", last, e.LogLines)
	}
	return notices > 0
}

// lingers is how long the end of a run may wait for its lines.
const lingers = 15 * time.Second

func (g *given) isLog(h heard) bool { return h.subject == bus.SubjectLog(group, g.RunID) }

// lines returns all lines of the attempt, and fails if a batch is not as a server takes it.
func (g *given) lines() (all []bus.LogLine) {
	for _, h := range g.since(g.mark, g.isLog) {
		if len(h.data) > maxBatchBytes {
			g.failf("a batch has %d bytes, at most %d", len(h.data), maxBatchBytes)
		}
		var l bus.Log
		if err := json.Unmarshal(h.data, &l); err != nil {
			g.failf("a batch is not JSON: %v\n%s", err, h)
		}
		if l.Total != g.Total {
			g.failf("a batch has broadcast_total %d, want %d: %s", l.Total, g.Total, h)
		}
		if l.Index != g.Index {
			continue // of another piece
		}
		if len(l.Lines) > maxBatchLines {
			g.failf("a batch has %d lines, at most 200", len(l.Lines))
		}
		if got := h.header.Get(bus.HeaderToken); got != g.token {
			g.failf("a batch has the token %q, want that of the trigger", got)
		}
		if h.header.Get(bus.HeaderMessage) != bus.MessageLog {
			g.failf("a batch has %s %q", bus.HeaderMessage, h.header.Get(bus.HeaderMessage))
		}
		all = append(all, l.Lines...)
	}
	return all
}
