package stream

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

const (
	// maxAhead bounds how many live lines wait for the ones before them. Beyond it the
	// newest are forgotten: the store will have them.
	maxAhead = 10000
	// settle is how long, after a run has ended, its last lines may take into the store.
	settle = 10 * time.Second
	// lateWait is how long a tail waits for the next line after an end that lines follow. The bridge of
	// XXL-JOB gives such a log up before.
	lateWait = 40 * time.Second
	// lateMost is how long it waits for such lines in all, whatever an executor sends: longer than the bridge reads them.
	lateMost = 10 * time.Minute
)

// followed is what a tail knows of one attempt: which lines were sent, which have
// come too early, and how the attempt ended. It is pure; a tail feeds it from the
// store and from the bus, in any order and with repeats.
type followed struct {
	id      job.RunID
	attempt int
	piece   runlog.Piece
	sent    int64         // all lines up to it were sent, or are known to be lost
	ahead   []runlog.Line // lines beyond a gap, by seq
	lost    int64         // lines that no source has
	end     *runlog.Run   // how the attempt ended; nil while it lives
	late    time.Time     // until when it waits for lines after the end; zero if none follow it
	latest  time.Time     // how far late may move
	whole   bool          // no lines come after those that were heard
}

// live takes in lines from the bus and returns those that can be sent.
func (f *followed) live(lines []runlog.Line) []runlog.Line {
	for _, l := range lines {
		if l.Seq <= f.sent || len(f.ahead) >= maxAhead {
			continue
		}
		at, known := slices.BinarySearchFunc(f.ahead, l.Seq, func(a runlog.Line, seq int64) int { return int(a.Seq - seq) })
		if !known {
			f.ahead = slices.Insert(f.ahead, at, l)
		}
	}
	return f.ready()
}

// stored takes in lines that the store has from sent+1 on, in order. The store takes
// an attempt's lines in the order in which they were printed, so what it lacks
// before a line that it has is lost.
func (f *followed) stored(lines []runlog.Line) []runlog.Line {
	var out []runlog.Line
	for _, l := range lines {
		if l.Seq <= f.sent {
			continue
		}
		f.lost += f.missing(l.Seq)
		f.sent = l.Seq
		out = append(out, l)
	}
	f.ahead = slices.DeleteFunc(f.ahead, func(l runlog.Line) bool { return l.Seq <= f.sent })
	return append(out, f.ready()...)
}

// missing returns how many lines are known to be between the last one sent and seq.
// Another delivery's lines have a block of their own; how many the delivery before
// had is not known.
func (f *followed) missing(seq int64) int64 {
	return seq - 1 - max(f.sent, (seq-1)/bus.LogBlock*bus.LogBlock)
}

// last returns the number of the last line of an attempt that has ended.
func (f *followed) last() int64 { return bus.LogBase(f.end.Delivery) + int64(f.end.LogLines) }

// ready takes the lines that follow the last one sent off the waiting ones.
func (f *followed) ready() []runlog.Line {
	n := 0
	for n < len(f.ahead) && f.missing(f.ahead[n].Seq) == 0 {
		f.sent = f.ahead[n].Seq
		n++
	}
	out := slices.Clone(f.ahead[:n])
	f.ahead = slices.Delete(f.ahead, 0, n)
	return out
}

// expectLate notes, at an instant, that lines come after the end, or that one has come. They do until
// the last.
func (f *followed) expectLate(at time.Time) {
	if f.whole {
		return
	}
	if f.latest.IsZero() {
		f.latest = at.Add(lateMost)
	}
	if f.late = at.Add(lateWait); f.late.After(f.latest) {
		f.late = f.latest
	}
}

// endLate notes, at an instant, that no more lines come after the end.
func (f *followed) endLate(at time.Time) {
	f.whole = true
	if !f.late.IsZero() {
		f.late = at
	}
}

// ended takes in how the attempt ended. The first word on it stays.
func (f *followed) ended(r *runlog.Run) {
	if f.end == nil && r.Attempt == f.attempt && r.Piece == f.piece && r.Status.Final() {
		f.end = r
	}
}

// gap reports whether lines are known to exist that were not sent.
func (f *followed) gap() bool {
	return len(f.ahead) > 0 || f.end != nil && f.end.LogLines > 0 && f.sent < f.last()
}

// done reports whether the tail is complete at now: the attempt has ended, and each
// line was sent or can be waited for no longer.
func (f *followed) done(now time.Time) bool {
	if f.end == nil || now.Before(f.late) {
		return false
	}
	over := f.end.FinishedAt
	if f.late.After(over) {
		over = f.late
	}
	return !f.gap() || now.Sub(over) > settle
}

// rest gives up on the lines that are missing and returns those that came after them.
func (f *followed) rest() []runlog.Line {
	out := f.stored(slices.Clone(f.ahead))
	if f.end != nil && f.end.LogLines > 0 && f.sent < f.last() {
		f.lost += f.missing(f.last() + 1)
		f.sent = f.last()
	}
	return out
}

// linesOf returns the lines of a message as the store will have them.
func linesOf(l *bus.Log) []runlog.Line {
	lines := make([]runlog.Line, len(l.Lines))
	for i, line := range l.Lines {
		lines[i] = runlog.Line{
			RunID: l.RunID, Job: l.Job, Attempt: l.Attempt, Piece: pieceIn(l.Piece), Seq: line.Seq, At: line.At,
			Level: string(line.Level), Output: string(line.Output), Text: line.Text,
		}
	}
	return lines
}

// runOf returns what a finished event says, as the history will have it.
func runOf(e *bus.Event) *runlog.Run {
	return &runlog.Run{
		RunID: e.RunID, Job: e.Job, Version: e.Version, Attempt: e.Attempt, Status: e.Status, Cause: e.Cause,
		FireTime: e.FireTime, CommittedAt: e.CommittedAt, DeliveredAt: e.DeliveredAt, StartedAt: e.StartedAt, FinishedAt: e.FinishedAt,
		Instance: e.Instance, Delivery: e.Delivery, ExitCode: e.ExitCode, Message: reason.Text(e.Message), Result: e.Result,
		LogLines: e.LogLines, Retrying: e.Retry, Piece: pieceIn(e.Piece), Total: e.Total, Count: 1,
	}
}

// pieceIn returns what piece a message is about.
func pieceIn(p bus.Piece) runlog.Piece {
	if p.Total == 0 {
		return runlog.Whole
	}
	return runlog.PieceAt(p.Index)
}
