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
	// logStall is how long the stream may take to answer before writers stop waiting
	// for it and begin to drop lines.
	logStall = time.Second
	// logLinger is how long the end of a run waits for its lines to be stored, and then how
	// long lines are still offered once that is stored. It outlasts an election of
	// JetStream's leader.
	logLinger = 15 * time.Second
)

// runLog is the log of one attempt: what is written becomes lines, without the run's secrets and
// within the attempt's limit, and its pump stores them in the LOG stream, in order. Methods may be
// called concurrently.
type runLog struct {
	e       *Executor
	run     *Run
	backlog backlog
	giveUp  context.CancelFunc // ends the pump; set when that starts

	mu      sync.Mutex
	writers []*lineWriter
	secrets *strings.Replacer // takes the run's secrets out of its lines; nil when it has none
	limit   logLimit
	tail    tail // of what the run printed
}

// init prepares g, whose pump lives in life and ends when close was called and the lines are gone,
// one way or the other.
func (g *runLog) init(life context.Context, e *Executor, r *Run) {
	g.e, g.run = e, r
	g.limit.lines, g.limit.bytes = int64(e.cfg.MaxLogLines), int64(e.cfg.MaxLogBytes)
	g.backlog.observers = e.observers
	g.backlog.seq = bus.LogBase(r.delivered)
	g.backlog.start = func() {
		ctx, cancel := context.WithCancel(life)
		g.giveUp = cancel
		go g.pump(ctx)
	}
}

// add logs one line, if it is within the limit. It waits while there is no room and the stream takes
// lines.
func (g *runLog) add(output bus.Output, level bus.Level, text string) {
	line := bus.LogLine{At: instant(g.e.clock.now()), Level: level, Output: output, Text: text}
	if !g.backlog.isClosed() && g.admit(&line) {
		g.backlog.add(line)
	}
}

// admit masks a line, and reports whether it is logged. The first one beyond the limit becomes a
// notice of that.
func (g *runLog) admit(line *bus.LogLine) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.secrets != nil {
		line.Text = g.secrets.Replace(line.Text)
	}
	if line.Output == bus.OutputSystem {
		return true
	}
	ok, first := g.limit.takeLocked(line.Text)
	switch {
	case ok:
		g.tail.add(line.Text)
	case first:
		line.Output, line.Level, line.Text = bus.OutputSystem, bus.LevelWarn, g.limit.notice()
	}
	return ok || first
}

// mask removes the run's secrets, by m, from every line from now on.
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
	g.logDropped()
}

// close ends the log and returns how many lines there were, those that were dropped
// included. Later lines are ignored.
func (g *runLog) close() int { return int(g.backlog.close() - bus.LogBase(g.run.delivered)) }

// note says what is wrong with the log of so many lines, for the message of the run; "" if
// nothing is.
func (g *runLog) note(lines int) string {
	missing := g.backlog.missed()
	if missing == 0 {
		return ""
	}
	return reason.LogIncomplete.With(missing, lines)
}

// settle waits until all lines are stored, but for no longer than logLinger: those that are
// not stored by then go on being offered until [runLog.abandon] is called. It must follow
// close.
func (g *runLog) settle() {
	ended := g.backlog.drained()
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
// while, and reports whether all were stored. It must follow close.
func (g *runLog) abandon() bool {
	ended := g.backlog.drained()
	if ended == nil {
		return true
	}
	timer := time.AfterFunc(logLinger, g.giveUp)
	<-ended
	timer.Stop()
	g.giveUp()
	return g.backlog.complete()
}

// pump publishes batch after batch, one at a time, so that they arrive in order.
// When ctx is done it leaves what there is.
func (g *runLog) pump(ctx context.Context) {
	defer close(g.backlog.ended)
	for ctx.Err() == nil {
		batch := g.backlog.next()
		if len(batch) == 0 {
			return
		}
		g.send(ctx, batch)
	}
	g.backlog.end()
}

// send publishes a batch until it is stored, or ctx is done.
func (g *runLog) send(ctx context.Context, batch []bus.LogLine) {
	var err error
	for wait := publishWaitMin; err == nil; wait = min(2*wait, publishWaitMax) {
		slow := time.AfterFunc(logStall, func() { g.backlog.setStalled(true) })
		for err == nil && len(batch) > 0 {
			var n int
			n, err = g.sendFirst(ctx, batch)
			batch = batch[n:]
		}
		slow.Stop()
		g.backlog.setStalled(err != nil)
		if err == nil {
			return
		}
		g.e.log.DebugContext(ctx, "log lines not stored", "run_id", g.run.ID(), "lines", len(batch), "error", err)
		err = pause(ctx, wait)
	}
}

// sendFirst publishes as many of the lines as NATS takes in one message now: it may have come
// back with a smaller max_payload. It returns how many are stored.
func (g *runLog) sendFirst(ctx context.Context, lines []bus.LogLine) (int, error) {
	m, n, err := g.logOf(lines).MsgWithin(g.run.token, g.e.out.maxPayload())
	if err == nil {
		err = g.e.out.publish(ctx, m)
	}
	if err != nil {
		return 0, err
	}
	g.backlog.stored(n)
	return n, nil
}

// unsent returns the lines that are not stored, as messages, and how many they are. It
// must follow close.
func (g *runLog) unsent() ([]*nats.Msg, int) {
	all := g.backlog.unsent()
	var batches []*nats.Msg
	for rest := all; len(rest) > 0; {
		n := batchOf(rest)
		if messages, err := g.msgs(rest[:n]); err == nil {
			batches = append(batches, messages...)
		}
		rest = rest[n:]
	}
	return batches, len(all)
}

// noticeOf returns, as messages, a line that counts the last n lines, which are given up.
func (g *runLog) noticeOf(n int) []*nats.Msg {
	all, err := g.msgs([]bus.LogLine{{
		Seq: g.backlog.last(),
		At:  time.Now().UTC().Truncate(time.Millisecond), Level: bus.LevelWarn, Output: bus.OutputSystem,
		Text: fmt.Sprintf("%d lines were dropped here: NATS was away, and the executor's spool had no room for them", n),
	}})
	if err != nil {
		return nil
	}
	return all
}

// msgs returns lines as messages that NATS takes.
func (g *runLog) msgs(lines []bus.LogLine) ([]*nats.Msg, error) {
	return g.logOf(lines).MsgsWithin(g.run.token, g.e.out.maxPayload())
}

func (g *runLog) logOf(lines []bus.LogLine) *bus.Log {
	return &bus.Log{RunID: g.run.ID(), Job: g.run.Job(), Attempt: g.run.Attempt(), Piece: g.run.trigger.Piece, Instance: g.run.instance, Lines: lines}
}
