package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// source is where something is said: in a message, and in a pack of ends at one of its lines.
type source struct {
	*message
	end int
}

// refused is what nobody can use.
type refused struct {
	source
	reason error
}

// batch is what messages say, and why some say nothing.
type batch struct {
	updates  []logstore.Update
	sources  []source // of each of updates
	source   source   // what is being decoded
	lines    []runlog.Line
	facts    []logstore.Fact
	refused  []refused
	begun    map[attempt]int // where updates say that a run has begun since a piece has
	pressing bool            // some of it is more than announcements of runs
}

// write hands the batch to a store. repeat says that it may have a part of it.
func (b *batch) write(ctx context.Context, s logstore.Store, token string, repeat bool) error {
	store := logstore.Writer(s)
	if r, ok := s.(logstore.Repeater); ok && repeat {
		store = r.Repeats()
	}
	var foreign error
	if len(b.updates) > 0 {
		foreign = store.WriteRuns(ctx, token, b.updates)
		if left := (*logstore.ForeignError)(nil); foreign != nil && !errors.As(foreign, &left) {
			return foreign
		}
	}
	if len(b.lines) > 0 { // of a record, beside its updates: what runs printed that are done elsewhere
		if err := store.WriteLines(ctx, token, b.lines); err != nil {
			return err
		}
	}
	if foreign != nil {
		return foreign
	}
	if len(b.facts) > 0 {
		return store.WriteFacts(ctx, token, b.facts)
	}
	return nil
}

// update adds u, if a store can hold it: one that cannot must not keep the rest out.
func (b *batch) update(u logstore.Update) {
	if err := u.Validate(); err != nil {
		b.refuse(err)
		return
	}
	b.add(u)
	b.pressing = b.pressing || !announces(&u)
}

func (b *batch) add(u logstore.Update) {
	b.updates, b.sources = append(b.updates, u), append(b.sources, b.source)
}

// refuse refuses what is being decoded.
func (b *batch) refuse(reason error) { b.refused = append(b.refused, refused{b.source, reason}) }

func decodeRecord(b *batch, m *message) {
	r, err := journal.DecodeRecord(m.header, m.data)
	if err != nil {
		b.refuse(err)
		return
	}
	lines := 0
	for i := range r.Outcomes {
		lines += len(r.Outcomes[i].Jobs)
	}
	b.updates, b.sources = slices.Grow(b.updates, lines), slices.Grow(b.sources, lines)
	err = r.Each(func(d journal.Decided) {
		if d.Ping != nil {
			b.ping(r.At, &d)
			return
		}
		u := logstore.Update{
			Kind: runlog.KindRecorded, RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: d.Attempt, Total: d.Total, Cause: d.Cause, At: r.At,
			Status: d.Status, Reason: d.Reason, By: d.By, Parent: d.Parent, Step: d.Step, Wait: d.Wait, Hold: d.Hold, Until: d.Until, Count: d.Count,
		}
		if len(d.Result) > 0 { // of a workflow, or of a step that somebody has resolved: as an executor would say it
			end := u
			end.Kind, end.FinishedAt, end.Result = runlog.KindFinished, r.At, d.Result
			b.update(end)
		}
		if d.Status == job.StatusRunning { // the first step of a workflow begins
			u.Kind, u.StartedAt = runlog.KindStarted, r.At
		}
		if d.Retry { // as the executor of one that is not done in pieces would say it
			u.Kind, u.Message, u.FinishedAt, u.Retry = runlog.KindFinished, d.Reason, r.At, true
		}
		b.update(u)
		if d.Hold != nil {
			b.update(holdOf(u))
		}
	})
	if err != nil {
		b.refuse(err)
	}
}

// holdOf returns for the timeline who put a run on hold, or resumed it, by its record.
func holdOf(record logstore.Update) logstore.Update {
	h := record.Hold
	u := logstore.Update{
		Kind: runlog.KindOnHold, RunID: record.RunID, Job: record.Job, Version: record.Version, Attempt: record.Attempt, Cause: record.Cause, At: h.Since,
		Status: record.Status, Reason: h.Note, By: h.By,
	}
	if !h.Held() {
		u.Kind, u.At, u.By, u.Reason = runlog.KindResumed, h.ResumedAt, h.ResumedBy, ""
	}
	return u
}

func decodeMark(b *batch, m *message) {
	k, err := bus.DecodeMark(m.header, m.data)
	if err != nil {
		b.refuse(err)
		return
	}
	b.update(logstore.Update{
		Kind: runlog.KindMarked, RunID: k.RunID, Job: k.Job, Version: k.Version, Attempt: k.Attempt, Piece: runlog.Whole, Cause: k.Cause, At: k.At,
		Status: k.Status, Mark: k.As, Reason: k.Note, By: k.By,
	})
}

// decoder reads what executors say, and checks that they may.
type decoder struct {
	tokens     *bus.Tokens
	partitions bus.Partitions
	shards     int
}

func newDecoder(conn *cluster.Conn) decoder {
	return decoder{conn.Tokens(), conn.Cluster().Partitions, conn.Cluster().Shards}
}

func (d decoder) event(b *batch, m *message) {
	switch {
	case bus.IsBarrier(m.subject):
		return
	case bus.IsMark(m.subject):
		decodeMark(b, m)
		return
	case bus.IsPing(m.header): // the shard's owner says in a record what became of it
		if _, err := d.tokens.DecodePing(m.subject, m.header, m.data, d.shards); err != nil {
			b.refuse(err)
		}
		return
	}
	for e, err := range d.tokens.DecodeEvents(m.subject, m.header, m.data, m.at, d.partitions, d.shards) {
		if err != nil {
			b.refuse(err)
		} else {
			b.event(e)
		}
		b.source.end++
	}
}

// event adds what an event says.
func (b *batch) event(e *bus.Event) {
	u := logstore.Update{
		RunID: e.RunID, Job: e.Job, Version: e.Version, Attempt: e.Attempt, Cause: e.Cause, At: e.At, CommittedAt: e.CommittedAt,
		Instance: strings.TrimPrefix(e.Instance, runlog.HostPrefix), Delivery: e.Delivery, DeliveredAt: e.DeliveredAt, StartedAt: e.StartedAt,
	}
	switch e.Kind {
	case bus.EventStarted:
		u.Kind = runlog.KindStarted
		if u.StartedAt.IsZero() {
			u.StartedAt = e.At
		}
		u.Reason = e.RouteReason
	case bus.EventHeld:
		u.Kind, u.Reason = runlog.KindHeld, e.Text
	case bus.EventProgress:
		u.Kind, u.Progress, u.ProgressText = runlog.KindProgress, e.Percent, e.Text
	case bus.EventFinished:
		u.Kind, u.Status, u.FinishedAt = runlog.KindFinished, e.Status, e.FinishedAt
		u.ExitCode, u.Message, u.Result, u.LogLines, u.Retry = e.ExitCode, e.Message, e.Result, e.LogLines, e.Retry
	}
	if e.Total > 0 {
		u.Piece, u.Total = runlog.PieceAt(e.Index), e.Total
		b.begin(&u)
	}
	b.update(u)
}

// begin says of an attempt as a whole what follows from one of its pieces: that it has
// begun. One update says so for all pieces of a batch.
func (b *batch) begin(piece *logstore.Update) {
	if piece.StartedAt.IsZero() {
		return
	}
	key := attempt{piece.RunID, piece.Attempt}
	if i, ok := b.begun[key]; ok {
		if whole := &b.updates[i]; piece.Earlier(whole) {
			whole.At, whole.DeliveredAt, whole.StartedAt = piece.StartedAt, piece.DeliveredAt, piece.StartedAt
		}
		return
	}
	whole := logstore.Update{
		Kind: runlog.KindStarted, RunID: piece.RunID, Job: piece.Job, Version: piece.Version, Attempt: piece.Attempt, Total: piece.Total,
		Cause: piece.Cause, At: piece.StartedAt, CommittedAt: piece.CommittedAt, DeliveredAt: piece.DeliveredAt, StartedAt: piece.StartedAt,
	}
	if whole.Validate() != nil {
		return // nor is the piece's valid, which tells why
	}
	if b.begun == nil {
		b.begun = map[attempt]int{}
	}
	b.begun[key] = len(b.updates)
	b.add(whole)
}

func (d decoder) log(b *batch, m *message) {
	l, err := d.tokens.DecodeLog(m.subject, m.header, m.data)
	if err != nil {
		b.refuse(err)
		return
	}
	for _, reason := range l.Refused {
		b.refuse(reason)
	}
	for i := range l.Lines {
		in := &l.Lines[i]
		line := runlog.Line{
			RunID: l.RunID, Job: l.Job, Attempt: l.Attempt, Seq: in.Seq, At: in.At,
			Level: string(in.Level), Output: string(in.Output), Text: in.Text,
		}
		if l.Total > 0 {
			line.Piece = runlog.PieceAt(l.Index)
		}
		if err := line.Validate(); err != nil {
			b.refuse(err)
			continue
		}
		b.lines = append(b.lines, line)
	}
}

// reasonOf names why a message was refused, in few words: the field that is wrong.
func reasonOf(err error) string {
	var invalid *job.InvalidError
	if errors.As(err, &invalid) && invalid.Field != "" {
		return invalid.Field
	}
	return reasonEncoding
}

// reasonEncoding is the reason of what cannot be read at all.
const reasonEncoding = "encoding"
