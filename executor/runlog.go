package executor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/reason"
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

	// logStall is how long the stream may take to answer before writers stop waiting
	// for it and begin to drop lines.
	logStall = time.Second
	// logLinger is how long the end of a run waits for its lines to be stored, and then how
	// long lines are still offered once that is stored. It outlasts an election of
	// JetStream's leader.
	logLinger = 15 * time.Second
)

// runLog carries the lines of one attempt to the LOG stream, in order. Its goroutine
// begins with the first line; a run that logs nothing costs nothing.
type runLog struct {
	e     *Executor
	run   *Run
	start func() // starts the goroutine

	mu      sync.Mutex
	room    *sync.Cond // signalled when lines leave, or will not be waited for
	wake    chan struct{}
	ended   chan struct{} // closed by the goroutine; nil before it begins
	giveUp  context.CancelFunc
	writers []*lineWriter

	seq     int64             // of the last line
	sending []bus.LogLine     // the batch that is on its way
	lines   []bus.LogLine     // not yet in a batch
	size    int               // of lines
	dropped int               // since the last batch, just before lines[0]
	missing int               // dropped in all
	tail    tail              // of what the run printed
	secrets *strings.Replacer // takes the run's secrets out of its lines; nil when it has none
	limit   logLimit
	stalled bool // the stream does not take lines
	closing bool
	lost    bool // lines were given up though the log was closed
}

// init prepares g, whose goroutine lives in life and ends when close was called and
// the lines are gone, one way or the other; close waits for it.
func (g *runLog) init(life context.Context, e *Executor, r *Run) {
	g.e, g.run = e, r
	g.limit.lines, g.limit.bytes = int64(e.cfg.MaxLogLines), int64(e.cfg.MaxLogBytes)
	g.seq = bus.LogBase(r.delivered)
	g.start = func() {
		ctx, cancel := context.WithCancel(life)
		g.giveUp = cancel
		go g.pump(ctx)
	}
}

// add appends one line. It waits while there is no room and the stream takes lines.
func (g *runLog) add(output bus.Output, level bus.Level, text string) {
	at := instant(g.e.clock.now())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return
	}
	if g.ended == nil {
		g.startLocked()
	}
	if g.secrets != nil {
		text = g.secrets.Replace(text)
	}
	if output != bus.OutputSystem {
		switch ok, first := g.limit.takeLocked(text); {
		case first:
			output, level, text = bus.OutputSystem, bus.LevelWarn, g.limit.notice()
		case !ok:
			return
		default:
			g.tail.add(text)
		}
	}
	cost := len(text) + lineCost
	for g.size+cost > logRoom && !g.stalled && !g.closing {
		g.room.Wait()
	}
	if g.closing {
		return
	}
	g.appendLocked(bus.LogLine{At: at, Level: level, Output: output, Text: text}, cost)
}

func (g *runLog) appendLocked(line bus.LogLine, cost int) {
	for g.size+cost > logRoom && len(g.lines) > 0 {
		g.dropLocked(1)
	}
	g.seq++
	line.Seq = g.seq
	g.lines = append(g.lines, line)
	g.size += cost
	if len(g.lines) == 1 || g.fullLocked() {
		g.wakeLocked()
	}
}

// dropLocked gives the n oldest lines up.
func (g *runLog) dropLocked(n int) {
	for _, line := range g.lines[:n] {
		g.size -= len(line.Text) + lineCost
	}
	clear(g.lines[:n]) // frees the texts
	g.lines = g.lines[n:]
	g.dropped += n
	g.missing += n
	g.e.count(CountLogLinesDropped, n)
}

func (g *runLog) fullLocked() bool {
	return len(g.lines) >= logBatchLines || g.size >= logBatchBytes
}

func (g *runLog) wakeLocked() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *runLog) startLocked() {
	g.room = sync.NewCond(&g.mu)
	g.wake = make(chan struct{}, 1)
	g.ended = make(chan struct{})
	g.start()
}

// mask has m take the run's secrets out of every line from now on.
func (g *runLog) mask(m *strings.Replacer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.secrets = m
}

func (g *runLog) masker() *strings.Replacer {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.secrets
}

// system logs what the executor has to say about the run, line by line.
func (g *runLog) system(level bus.Level, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(cut(text), "\n"), "\n") {
		g.add(bus.OutputSystem, level, line)
	}
}

// endLines logs the lines that were written without an end.
func (g *runLog) endLines() {
	g.mu.Lock()
	writers := g.writers
	g.writers = nil
	g.mu.Unlock()
	for _, w := range writers {
		w.finish()
	}
	g.sayDropped()
}

// shut ends the log and returns how many lines there were, those that were dropped
// included. Later lines are ignored.
func (g *runLog) shut() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closing = true
	if g.ended != nil {
		g.room.Broadcast()
		g.wakeLocked()
	}
	return int(g.seq - bus.LogBase(g.run.delivered))
}

// note says what is wrong with the log of so many lines, for the message of the run; "" if
// nothing is.
func (g *runLog) note(lines int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing == 0 {
		return ""
	}
	return reason.LogIncomplete.With(g.missing, lines)
}

// settle waits until all lines are stored, but for no longer than logLinger: those that are
// not stored by then go on being offered until [runLog.abandon] is called. It must follow
// shut.
func (g *runLog) settle() {
	g.mu.Lock()
	ended := g.ended
	g.mu.Unlock()
	if ended == nil {
		return
	}
	timer := time.NewTimer(logLinger)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C: // whoever cannot store them may yet store the end
	}
}

// abandon gives up the lines that cannot be stored though the end of the run is, after a
// while, and tells whether all were stored. It must follow shut.
func (g *runLog) abandon() bool {
	g.mu.Lock()
	ended := g.ended
	g.mu.Unlock()
	if ended == nil {
		return true
	}
	timer := time.AfterFunc(logLinger, g.giveUp)
	<-ended
	timer.Stop()
	g.giveUp()
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.lost
}

// pump publishes batch after batch, one at a time, so that they arrive in order.
// When ctx is done it leaves what there is, see drop.
func (g *runLog) pump(ctx context.Context) {
	defer close(g.ended)
	for ctx.Err() == nil {
		batch := g.next()
		if len(batch) == 0 {
			return
		}
		g.send(ctx, batch)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = len(g.sending)+len(g.lines) > 0
	g.closing = true
	g.room.Broadcast()
}

// next waits for a batch to be due and returns it. It is empty at the end.
func (g *runLog) next() []bus.LogLine {
	timer := time.NewTimer(logDelay)
	defer timer.Stop()
	due := false
	for {
		g.mu.Lock()
		if g.fullLocked() || g.closing || due && len(g.lines) > 0 {
			batch := g.batchLocked()
			g.mu.Unlock()
			return batch
		}
		waiting := len(g.lines) > 0
		g.mu.Unlock()
		select {
		case <-g.wake:
			if !waiting { // the first line begins the delay
				due = false
				timer.Reset(logDelay)
			}
		case <-timer.C:
			due = true
		}
	}
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

// batchLocked takes the lines of the next batch. If lines were dropped before, the
// first line of the batch says how many.
func (g *runLog) batchLocked() []bus.LogLine {
	n := batchOf(g.lines)
	for _, line := range g.lines[:n] {
		g.size -= len(line.Text) + lineCost
	}
	batch := make([]bus.LogLine, 0, n+1)
	if g.dropped > 0 {
		batch = append(batch, g.droppedLine(g.dropped))
		g.dropped = 0
	}
	batch = append(batch, g.lines[:n]...)
	clear(g.lines[:n])
	g.lines = g.lines[n:]
	g.sending = batch
	g.room.Broadcast()
	return batch
}

// droppedLine says that the n lines before the next one were dropped. It takes the number
// of the last of them, which is free and in the right place. The caller holds the lock.
func (g *runLog) droppedLine(n int) bus.LogLine {
	seq := g.seq
	if len(g.lines) > 0 {
		seq = g.lines[0].Seq - 1
	}
	text := fmt.Sprintf("%d lines were dropped here: the log stream did not take them in time", n)
	if n == 1 {
		text = "1 line was dropped here: the log stream did not take it in time"
	}
	return bus.LogLine{Seq: seq, At: time.Now().UTC().Truncate(time.Millisecond), Level: bus.LevelWarn, Output: bus.OutputSystem, Text: text}
}

// send publishes a batch until it is stored, or ctx is done.
func (g *runLog) send(ctx context.Context, batch []bus.LogLine) {
	var err error
	for wait := publishWaitMin; err == nil; wait = min(2*wait, publishWaitMax) {
		slow := time.AfterFunc(logStall, func() { g.setStalled(true) })
		for err == nil && len(batch) > 0 {
			var n int
			n, err = g.sendFirst(ctx, batch)
			batch = batch[n:]
		}
		slow.Stop()
		if err == nil {
			g.setStalled(false)
			return
		}
		g.setStalled(true)
		g.e.log.DebugContext(ctx, "log lines not stored", "run_id", g.run.ID(), "lines", len(batch), "error", err)
		err = pause(ctx, wait)
	}
}

// sendFirst publishes as many of the lines as NATS takes in one message now: it may have come
// back with a smaller max_payload. It returns how many are stored.
func (g *runLog) sendFirst(ctx context.Context, lines []bus.LogLine) (int, error) {
	m, n, err := g.logOf(lines).MsgWithin(g.run.token, g.e.maxPayload())
	if err == nil {
		err = g.e.publish(ctx, m)
	}
	if err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sending = g.sending[n:]; len(g.sending) == 0 {
		g.sending = nil // frees the texts
	}
	return n, nil
}

// drop gives up and counts the lines that are not stored, nor will be. It must follow
// abandon.
func (g *runLog) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.e.count(CountLogLinesDropped, len(g.sending))
	g.sending = nil
	g.dropLocked(len(g.lines))
}

// msgs returns lines as messages that NATS takes.
func (g *runLog) msgs(lines []bus.LogLine) ([]*nats.Msg, error) {
	return g.logOf(lines).MsgsWithin(g.run.token, g.e.maxPayload())
}

func (g *runLog) logOf(lines []bus.LogLine) *bus.Log {
	return &bus.Log{RunID: g.run.ID(), Job: g.run.Job(), Attempt: g.run.Attempt(), Piece: g.run.trigger.Piece, Instance: g.run.instance, Lines: lines}
}

func (g *runLog) setStalled(stalled bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stalled = stalled
	if stalled {
		g.room.Broadcast()
	}
}
