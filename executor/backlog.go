package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// A batch is published when its oldest line has waited for logDelay, or when it has
	// so many lines or bytes.
	logDelay      = 100 * time.Millisecond
	logBatchLines = 200
	logBatchBytes = 64 << 10

	// logRoom bounds the lines of a run that wait, in bytes, each line counted with
	// lineCost on top.
	logRoom  = 1 << 20
	lineCost = 128
)

// backlog is the lines of one attempt that are not stored yet, in order. Handlers add them, and one
// goroutine, the log's pump, takes them batch by batch. It begins with the first line; a run that
// logs nothing costs nothing. Methods may be called concurrently.
type backlog struct {
	observers observers
	start     func() // starts the pump

	mu    sync.Mutex
	room  *sync.Cond    // signalled when lines leave, or will not be waited for
	wake  chan struct{} // holds a token while the pump has not seen a change
	ended chan struct{} // closed when the pump has ended; nil before it begins

	seq     int64         // of the last line
	sending []bus.LogLine // the batch that is on its way
	lines   []bus.LogLine // not yet in a batch
	size    int           // of lines
	dropped int           // since the last batch, just before lines[0]
	missing int           // dropped in all
	stalled bool          // the stream does not take lines
	closing bool
	lost    bool // lines were given up though the log was closed
}

// add appends one line, and numbers it. It waits while there is no room and the stream takes lines.
// After close it does nothing.
func (b *backlog) add(line bus.LogLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return
	}
	if b.ended == nil {
		b.room = sync.NewCond(&b.mu)
		b.wake = make(chan struct{}, 1)
		b.ended = make(chan struct{})
		b.start()
	}
	cost := len(line.Text) + lineCost
	for b.size+cost > logRoom && !b.stalled && !b.closing {
		b.room.Wait()
	}
	if b.closing {
		return
	}
	for b.size+cost > logRoom && len(b.lines) > 0 {
		b.dropLocked(1)
	}
	b.seq++
	line.Seq = b.seq
	b.lines = append(b.lines, line)
	b.size += cost
	if len(b.lines) == 1 || b.fullLocked() {
		b.wakeLocked()
	}
}

// dropLocked gives the n oldest lines up.
func (b *backlog) dropLocked(n int) {
	for _, line := range b.lines[:n] {
		b.size -= len(line.Text) + lineCost
	}
	clear(b.lines[:n]) // frees the texts
	b.lines = b.lines[n:]
	b.dropped += n
	b.missing += n
	b.observers.count(CountLogLinesDropped, n)
}

func (b *backlog) fullLocked() bool {
	return len(b.lines) >= logBatchLines || b.size >= logBatchBytes
}

func (b *backlog) wakeLocked() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// close ends the log and returns the number of its last line. Later lines are ignored.
func (b *backlog) close() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closing = true
	if b.ended != nil {
		b.room.Broadcast()
		b.wakeLocked()
	}
	return b.seq
}

// isClosed reports whether the log takes no more lines.
func (b *backlog) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closing
}

// last returns the number of the last line.
func (b *backlog) last() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// next waits for a batch to be due and returns it. It is empty at the end.
func (b *backlog) next() []bus.LogLine {
	timer := time.NewTimer(logDelay)
	defer timer.Stop()
	due := false
	for {
		b.mu.Lock()
		if b.fullLocked() || b.closing || due && len(b.lines) > 0 {
			batch := b.batchLocked()
			b.mu.Unlock()
			return batch
		}
		waiting := len(b.lines) > 0
		b.mu.Unlock()
		select {
		case <-b.wake:
			if !waiting { // the first line begins the delay
				due = false
				timer.Reset(logDelay)
			}
		case <-timer.C:
			due = true
		}
	}
}

// batchLocked takes the lines of the next batch. If lines were dropped before, the
// first line of the batch says how many.
func (b *backlog) batchLocked() []bus.LogLine {
	n := batchOf(b.lines)
	for _, line := range b.lines[:n] {
		b.size -= len(line.Text) + lineCost
	}
	batch := make([]bus.LogLine, 0, n+1)
	if b.dropped > 0 {
		batch = append(batch, b.droppedLineLocked())
		b.dropped = 0
	}
	batch = append(batch, b.lines[:n]...)
	clear(b.lines[:n])
	b.lines = b.lines[n:]
	b.sending = batch
	b.room.Broadcast()
	return batch
}

// batchOf returns how many of the lines, the first ones, make a batch.
func batchOf(lines []bus.LogLine) int {
	n, size := 0, 0
	for n < len(lines) && n < logBatchLines && (n == 0 || size+len(lines[n].Text) <= logBatchBytes) {
		size += len(lines[n].Text)
		n++
	}
	return n
}

// droppedLineLocked returns the line that counts those dropped before the next one. It takes the
// number of the last of them, which is free and in the right place.
func (b *backlog) droppedLineLocked() bus.LogLine {
	seq := b.seq
	if len(b.lines) > 0 {
		seq = b.lines[0].Seq - 1
	}
	text := fmt.Sprintf("%d lines were dropped here: the log stream did not take them in time", b.dropped)
	if b.dropped == 1 {
		text = "1 line was dropped here: the log stream did not take it in time"
	}
	return bus.LogLine{Seq: seq, At: time.Now().UTC().Truncate(time.Millisecond), Level: bus.LevelWarn, Output: bus.OutputSystem, Text: text}
}

// stored removes the first n lines of the batch that is on its way.
func (b *backlog) stored(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sending = b.sending[n:]; len(b.sending) == 0 {
		b.sending = nil // frees the texts
	}
}

// setStalled records whether the stream takes lines. While it does not, writers do not wait.
func (b *backlog) setStalled(stalled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stalled = stalled
	if stalled {
		b.room.Broadcast()
	}
}

// end closes the log for the pump, which ends. Lines that are left are lost; see drop.
func (b *backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = len(b.sending)+len(b.lines) > 0
	b.closing = true
	b.room.Broadcast()
}

// drained returns a channel that is closed once the pump has ended; nil if it never began. Call it
// after close.
func (b *backlog) drained() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// complete reports whether all lines were stored. Call it after the pump has ended.
func (b *backlog) complete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.lost
}

// unsent returns the lines that are not stored, with one that counts those dropped before them.
// Call it after close.
func (b *backlog) unsent() []bus.LogLine {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := append([]bus.LogLine(nil), b.sending...)
	if b.dropped > 0 {
		all = append(all, b.droppedLineLocked())
	}
	return append(all, b.lines...)
}

// drop gives up and counts the lines that are not stored. Call it after the pump has ended.
func (b *backlog) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observers.count(CountLogLinesDropped, len(b.sending))
	b.sending = nil
	b.dropLocked(len(b.lines))
}

// missed returns how many lines were dropped in all.
func (b *backlog) missed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.missing
}
