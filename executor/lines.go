package executor

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
)

// lineMark ends a piece of a line that was too long for one, and the next piece
// begins with it.
const lineMark = "…"

const maxPiece = bus.MaxLogText - 2*len(lineMark)

// lineWriter cuts what is written into lines of the run's log.
type lineWriter struct {
	log    *runLog
	output bus.Output
	level  bus.Level

	mu   sync.Mutex
	rest []byte // the unfinished line
	long bool   // rest continues a line of which the first part is logged
}

func (g *runLog) writer(output bus.Output, level bus.Level) io.Writer {
	w := &lineWriter{log: g, output: output, level: level}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers = append(g.writers, w)
	return w
}

// Write implements [io.Writer]. It returns no error: a run must not fail for what
// becomes of its log.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log.limit.reached.Load() {
		w.log.limit.discard(p)
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		w.appendLocked(line)
		if found {
			w.lineLocked()
		}
		rest = after
	}
	return len(p), nil
}

// appendLocked adds to the unfinished line, and logs the pieces that it is too long
// for.
func (w *lineWriter) appendLocked(p []byte) {
	for len(w.rest)+len(p) > maxPiece {
		n := max(pieceEnd(p, maxPiece-len(w.rest)), 0)
		w.rest = append(w.rest, p[:n]...)
		p = p[n:]
		w.emitLocked(true)
	}
	w.rest = append(w.rest, p...)
}

// pieceEnd returns the greatest number up to most at which p can be cut without
// cutting a character in two.
func pieceEnd(p []byte, most int) int {
	if most >= len(p) {
		return len(p)
	}
	for end := most; end > most-utf8.UTFMax && end > 0; end-- {
		if utf8.RuneStart(p[end]) {
			return end
		}
	}
	return most // no text, so there is nothing to spare
}

// lineLocked logs the unfinished line as finished, without the carriage return that
// ends it on some systems.
func (w *lineWriter) lineLocked() {
	w.rest = bytes.TrimSuffix(w.rest, []byte("\r"))
	w.emitLocked(false)
	w.long = false
}

// emitLocked logs what there is of the line, and remembers whether it goes on. What
// is not UTF-8 grows when it is replaced, so one piece may become several.
func (w *lineWriter) emitLocked(goesOn bool) {
	text := bytes.ToValidUTF8(w.rest, []byte("\uFFFD"))
	for more := true; more; {
		n := pieceEnd(text, maxPiece)
		more = n < len(text)
		head, tail := "", ""
		if w.long {
			head = lineMark
		}
		if more || goesOn {
			tail = lineMark
		}
		w.log.add(w.output, w.level, head+string(text[:n])+tail)
		text, w.long = text[n:], true
	}
	w.rest = w.rest[:0]
}

// finish logs the unfinished line, if there is one.
func (w *lineWriter) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.lineLocked()
	}
}
