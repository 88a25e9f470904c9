package executor

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/carillon-scheduler/carillon/bus"
)

// logLimit is how much an attempt may log. Beyond it lines are counted and dropped. The
// executor's own lines about the run are not counted, and are always logged.
type logLimit struct {
	lines, bytes int64 // that there may be

	// Guarded by runLog.mu.
	usedLines, usedBytes int64

	reached      atomic.Bool
	droppedLines atomic.Int64
	droppedBytes atomic.Int64
}

// takeLocked reports whether a line is within the limit. first is true for the first
// one that is not.
func (l *logLimit) takeLocked(text string) (ok, first bool) {
	if !l.reached.Load() && l.usedLines < l.lines && l.usedBytes+int64(len(text)) <= l.bytes {
		l.usedLines++
		l.usedBytes += int64(len(text))
		return true, false
	}
	l.droppedLines.Add(1)
	l.droppedBytes.Add(int64(len(text)))
	return false, !l.reached.Swap(true)
}

// discard counts output that there is no need to cut into lines any more.
func (l *logLimit) discard(p []byte) {
	l.droppedLines.Add(int64(bytes.Count(p, []byte("\n"))))
	l.droppedBytes.Add(int64(len(p)))
}

func (l *logLimit) notice() string {
	return fmt.Sprintf("the log of this attempt is full: it may have %d lines and %d bytes; what follows is counted and dropped", l.lines, l.bytes)
}

// logDropped logs, at the end of a run, how much was dropped.
func (g *runLog) logDropped() {
	if !g.limit.reached.Load() {
		return
	}
	lines, size := g.limit.droppedLines.Load(), g.limit.droppedBytes.Load()
	g.e.observers.count(CountLogLinesDropped, int(lines))
	g.system(bus.LevelWarn, fmt.Sprintf("%d lines of %d bytes were dropped here: the log was full", lines, size))
}
