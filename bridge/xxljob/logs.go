package xxljob

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// logEvery is how often the log of a run is read while it goes on, and lastLogWait how long its end
	// waits for the last lines. Its executor waits for us meanwhile.
	logEvery    = 3 * time.Second
	lastLogWait = time.Second
	// lateLogs is how long lines are asked for after that if none come, and lateRest how long between two calls.
	lateLogs = 15 * time.Second
	lateRest = 3 * time.Second
	// Executors may hand out a log in pages. While a run goes on, pagesAtOnce are read at most before other
	// questions get their turn. After its end as many as there are, until no line came for lateLogs, or
	// for lateMost at most.
	pagesAtOnce = 32
	lateMost    = 5 * time.Minute

	// A batch of lines has at most so many lines and bytes of text.
	batchLines = 200
	batchBytes = 64 << 10
	// The log of an attempt has at most so many lines and bytes, as with other executors.
	maxLogLines = 1_000_000
	maxLogBytes = 64 << 20

	// linePieces bounds how many lines a long line of the executor becomes. What is beyond is left out.
	linePieces = 8
)

// at returns the first line that is not moved.
func (g *runLog) at() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line
}

// lines returns how many lines the run's log has.
func (g *runLog) lines() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}

// position returns the first line that is not moved, and how many lines the run's log has before it.
func (g *runLog) position() (line, count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line, g.count
}

// stayOpen notes that lines come after the end of the run.
func (g *runLog) stayOpen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
}

// isOpen reports whether lines come after the end of the run.
func (g *runLog) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// failure returns why the last call brought no lines.
func (g *runLog) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// moved notes that all lines before one are in the run's log, as so many lines, and reports whether more
// may follow.
func (g *runLog) moved(line, count, bytes int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line, g.count, g.bytes = line, count, g.bytes+bytes
	return !g.fullLocked()
}

// full reports whether the log has as much as it may have, and notes it. It is first the first time.
func (g *runLog) full() (full, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = g.fullLocked() && !g.over
	g.over = g.fullLocked()
	return g.over, first
}

func (g *runLog) fullLocked() bool { return g.line > maxLogLines || g.bytes > maxLogBytes }

// note returns the number of a line of ours after the last one.
func (g *runLog) note(delivery int) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	return bus.LogBase(delivery) + int64(g.count)
}

// readLog moves what is new in the executor's log to the run's, at most so many answers of it. It
// reports whether that is all there is for now.
func (a *attempt) readLog(ctx context.Context, pages int) (all bool) {
	if a.kept.LogID == 0 {
		return true
	}
	select { // one after the other, and some for all runs
	case a.log.reading <- struct{}{}:
		defer func() { <-a.log.reading }()
	case <-ctx.Done():
		return false
	}
	select {
	case a.i.b.logs <- struct{}{}:
		defer func() { <-a.i.b.logs }()
	case <-ctx.Done():
		return false
	}
	var err error
	for range pages {
		if all, err = a.readPage(ctx); all || err != nil {
			break
		}
	}
	a.log.mu.Lock()
	defer a.log.mu.Unlock()
	if err == nil || ctx.Err() == nil || a.log.failed == nil { // else that our time is over is not why
		a.log.failed = err
	}
	return all
}

// readPage moves the lines of one answer. It reports whether there are no more for now: the executor says
// so, or had no new ones. Few say so.
func (a *attempt) readPage(ctx context.Context) (last bool, err error) {
	if full, first := a.log.full(); full {
		if first {
			a.note(ctx, fmt.Sprintf("the log has more than %d lines or %d MiB; what follows is left out", maxLogLines, maxLogBytes>>20))
		}
		return true, nil
	}
	l, err := a.i.b.peers.Log(ctx, a.i.target(), a.kept.LogID, a.kept.Started, a.log.at())
	if err != nil {
		return false, err
	}
	if l.Dialect != "" && a.i.target().Dialect != wire.DialectC {
		news := false
		a.i.held.learn(func(is *state.Instance) { news, is.Dialect = is.Dialect != l.Dialect, l.Dialect })
		if news {
			a.i.beat(time.Now())
		}
	}
	var batch []bus.LogLine
	size := 0
	_, count := a.log.position()
	for k, text := range l.Lines {
		number := l.Next - len(l.Lines) + k
		// A line that is read twice, by two bridges, has the same number, and readers know it again.
		pieces := piecesOf(text, bus.LogBase(a.kept.Delivery)+int64(count)+1)
		batch, count = append(batch, pieces...), count+len(pieces)
		size += len(text)
		if len(batch) < batchLines && size < batchBytes && k < len(l.Lines)-1 {
			continue
		}
		if err := a.publishLines(ctx, batch); err != nil {
			return false, err
		}
		if !a.log.moved(number+1, count, size) {
			break
		}
		batch, size = batch[:0], 0
	}
	return l.End || len(l.Lines) == 0, nil
}

// piecesOf returns a line of the executor as lines of the run's log, numbered from seq on.
func piecesOf(text string, seq int64) []bus.LogLine {
	at := time.Now().UTC().Truncate(time.Millisecond)
	text = strings.ToValidUTF8(strings.TrimSuffix(text, "\r"), "\uFFFD")
	var all []bus.LogLine
	for piece := range int64(linePieces) {
		part := text
		if len(part) > bus.MaxLogText {
			part = strings.ToValidUTF8(text[:bus.MaxLogText], "")
		}
		text = text[len(part):]
		all = append(all, bus.LogLine{Seq: seq + piece, At: at, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: part})
		if text == "" {
			break
		}
	}
	return all
}

// note says something of our own after the last line of a run's log.
func (a *attempt) note(ctx context.Context, text string) {
	seq := a.log.note(a.kept.Delivery)
	err := a.publishLines(ctx, []bus.LogLine{{Seq: seq, At: time.Now().UTC().Truncate(time.Millisecond), Level: bus.LevelWarn, Output: bus.OutputSystem, Text: text}})
	if err != nil {
		a.i.log.DebugContext(ctx, "log line not stored", "run_id", a.kept.Trigger.RunID, "error", err)
	}
}

func (a *attempt) publishLines(ctx context.Context, lines []bus.LogLine) error {
	l := a.logOf(lines)
	all, err := l.MsgsWithin(a.kept.Token, a.i.b.conn.NC.MaxPayload())
	for _, m := range all {
		if err == nil {
			err = a.i.out.publish(ctx, m)
		}
	}
	return err
}

func (a *attempt) logOf(lines []bus.LogLine) *bus.Log {
	t := a.kept.Trigger
	return &bus.Log{RunID: t.RunID, Job: t.Job, Attempt: t.Attempt, Piece: t.Piece, Instance: a.i.name, Lines: lines}
}

// lastLines reads what is left of the log of a run that has ended. The end does not wait for an executor
// that is slow: then the lines come after it, or a line that says that they do not.
func (a *attempt) lastLines(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, lastLogWait)
	defer cancel()
	if a.readLog(soon, maxLogLines) || ctx.Err() != nil {
		return
	}
	a.log.stayOpen()
	a.i.b.work.Go(func() error {
		ctx := context.WithoutCancel(ctx) // the instance may go while its lines are read
		a.lateLines(ctx)
		a.sayLast(ctx)
		return nil
	})
}

func (a *attempt) lateLines(ctx context.Context) {
	reading, cancel := context.WithTimeout(ctx, lateMost)
	defer cancel()
	rest := time.NewTicker(lateRest)
	defer rest.Stop()
	for at, since := 0, time.Now(); time.Since(since) < lateLogs; {
		limited, cancel := context.WithTimeout(reading, lateLogs)
		all := a.readLog(limited, pagesAtOnce)
		cancel()
		if all {
			return
		}
		if a.log.at() > at { // there may be more
			at, since = a.log.at(), time.Now()
			if a.log.failure() == nil && reading.Err() == nil {
				continue
			}
		}
		select {
		case <-rest.C:
			continue
		case <-reading.Done():
		}
		break
	}
	why := "it has more lines than could be read in time"
	if failed := a.log.failure(); failed != nil {
		why = failed.Error()
	}
	last, end := context.WithTimeout(ctx, lastLogWait)
	defer end()
	a.note(last, fmt.Sprintf("the executor does not hand out the log from line %d on: %s", a.log.at(), why))
}

// sayLast tells those who follow the log that they have all of it. They wait for that a while only.
func (a *attempt) sayLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastLogWait)
	defer cancel()
	l := a.logOf([]bus.LogLine{})
	l.Last = true
	m, err := l.Msg(a.kept.Token)
	if err == nil {
		err = a.i.out.publish(ctx, m)
	}
	if err != nil {
		a.i.log.DebugContext(ctx, "end of log not stored", "run_id", a.kept.Trigger.RunID, "error", err)
	}
}
