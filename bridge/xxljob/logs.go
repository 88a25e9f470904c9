package xxljob

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// logEvery is how often the log of a run is read while it goes on, and lastLogWait how long its end
	// waits for the last lines. Its executor waits for us meanwhile.
	logEvery    = 3 * time.Second
	lastLogWait = time.Second
	// lateLogs is how long lines are asked for after that, and lateRest how long between two calls.
	lateLogs = 15 * time.Second
	lateRest = 3 * time.Second

	// A batch of lines has at most so many lines and bytes of text.
	batchLines = 200
	batchBytes = 64 << 10
	// The log of an attempt has at most so many lines and bytes, as with other executors.
	maxLogLines = 1_000_000
	maxLogBytes = 64 << 20

	// Each line of the executor has lineRoom numbers in the run's log: linePieces for the pieces of a
	// long one, and the rest for what we say after it. So a line that is read twice, by two bridges,
	// has the same number, and readers know it again.
	lineRoom   = 16
	linePieces = 8
)

// lines returns how many lines the run has logged, as far as is known.
func (r *run) lines() int {
	r.logging.Lock()
	defer r.logging.Unlock()
	return r.logLine - 1 + r.logNotes
}

// readLog moves what is new in the executor's log to the run's.
func (i *instance) readLog(ctx context.Context, r *run) {
	if r.kept.LogID == 0 {
		return
	}
	select {
	case i.b.logs <- struct{}{}:
		defer func() { <-i.b.logs }()
	case <-ctx.Done():
		return
	}
	r.logging.Lock()
	defer r.logging.Unlock()
	r.logFailed = i.moveLocked(ctx, r)
}

// moveLocked moves lines; r's log is locked.
func (i *instance) moveLocked(ctx context.Context, r *run) error {
	if r.logOver {
		return nil
	}
	l, err := i.b.peers.Log(ctx, i.target(), r.kept.LogID, r.kept.Started, r.logLine)
	if err != nil {
		return err
	}
	if l.Dialect != "" && i.target().Dialect != wire.DialectC {
		i.mu.Lock()
		i.is.Dialect = l.Dialect
		i.mu.Unlock()
	}
	var batch []bus.LogLine
	size, next := 0, r.logLine
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := i.publishLines(ctx, r, batch)
		if err == nil {
			batch, size, r.logLine = batch[:0], 0, next
		}
		return err
	}
	for k, text := range l.Lines {
		if next > maxLogLines || r.logBytes > maxLogBytes {
			r.logOver = true
			if err := flush(); err != nil {
				return err
			}
			return i.noteLocked(ctx, r, fmt.Sprintf("the log has more than %d lines or %d MiB; what follows is left out", maxLogLines, maxLogBytes>>20))
		}
		for _, line := range piecesOf(r.kept.Delivery, l.Next-len(l.Lines)+k, text) {
			batch = append(batch, line)
			size += len(line.Text)
			r.logBytes += len(line.Text)
		}
		next = l.Next - len(l.Lines) + k + 1
		if len(batch) >= batchLines || size >= batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// piecesOf returns a line of the executor as lines of the run's log.
func piecesOf(delivery, number int, text string) []bus.LogLine {
	seq := bus.LogBase(delivery) + int64(number)*lineRoom + 1
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
func (i *instance) note(ctx context.Context, r *run, text string) {
	r.logging.Lock()
	defer r.logging.Unlock()
	if err := i.noteLocked(ctx, r, text); err != nil {
		i.log.DebugContext(ctx, "log line not stored", "run_id", r.kept.Trigger.RunID, "error", err)
	}
}

func (i *instance) noteLocked(ctx context.Context, r *run, text string) error {
	if linePieces+r.logNotes+1 >= lineRoom {
		return nil
	}
	r.logNotes++
	return i.publishLines(ctx, r, []bus.LogLine{{
		Seq: bus.LogBase(r.kept.Delivery) + int64(r.logLine-1)*lineRoom + linePieces + int64(r.logNotes), At: time.Now().UTC().Truncate(time.Millisecond),
		Level: bus.LevelWarn, Output: bus.OutputSystem, Text: text,
	}})
}

func (i *instance) publishLines(ctx context.Context, r *run, lines []bus.LogLine) error {
	t := r.kept.Trigger
	m, err := (&bus.Log{RunID: t.RunID, Job: t.Job, Attempt: t.Attempt, Piece: t.Piece, Instance: i.name, Lines: lines}).Msg(r.kept.Token)
	if err != nil {
		return err
	}
	return i.publish(ctx, m)
}

// lastLines reads what is left of the log of a run that has ended. The end does not wait for an executor
// that is slow: then the lines come after it, or a line that says that they do not.
func (i *instance) lastLines(ctx context.Context, r *run) {
	soon, cancel := context.WithTimeout(ctx, lastLogWait)
	defer cancel()
	i.readLog(soon, r)
	r.logging.Lock()
	failed := r.logFailed
	r.logging.Unlock()
	if failed == nil || ctx.Err() != nil {
		return
	}
	i.b.work.Go(func() error { i.lateLines(ctx, r); return nil })
}

func (i *instance) lateLines(ctx context.Context, r *run) {
	// The instance may go while its lines are read.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateLogs)
	defer cancel()
	rest := time.NewTicker(lateRest)
	defer rest.Stop()
	for {
		i.readLog(ctx, r)
		r.logging.Lock()
		failed := r.logFailed
		r.logging.Unlock()
		if failed == nil {
			return
		}
		select {
		case <-rest.C:
			continue
		case <-ctx.Done():
		}
		last, end := context.WithTimeout(context.WithoutCancel(ctx), lastLogWait)
		defer end()
		i.note(last, r, fmt.Sprintf("the executor does not hand out the log from line %d on: %v", r.logLine, errors.Unwrap(failed)))
		return
	}
}
