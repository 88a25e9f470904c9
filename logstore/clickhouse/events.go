package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// eventRow is a row of run_events. Rows with the same place, attempt, kind and slot are one event: only
// the one with the highest precedence stays.
type eventRow struct {
	place // of the run: fire time, run id and index of the piece

	attempt    uint32
	job        job.Name
	kind       int8
	slot, at   int64 // in Unix milliseconds: at
	status     int8
	instance   string
	delivery   uint32
	percent    float64
	detail     string
	precedence int64
}

// events are rows of run_events that one write adds.
type events struct {
	rows       []eventRow
	precedence int64
}

// addIfKept adds the event of an update, unless the row of its run says all that it does.
func (e *events) addIfKept(p place, u *logstore.Update) {
	switch {
	case u.Kind.TimelineOnly(), u.Kind == runlog.KindHeld, u.Kind == runlog.KindStarted && u.Instance != "", u.Kind == runlog.KindProgress,
		u.Kind == runlog.KindRecorded && u.Status == job.StatusQueued:
		e.add(p, u, u.Kind)
	}
}

func (e *events) add(p place, u *logstore.Update, kind runlog.Kind) {
	r := eventRow{
		place: p, attempt: toUint32(u.Attempt), job: u.Job, kind: database.Kinds[kind], at: millis(u.At), status: database.Statuses[u.Tells()],
		instance: u.Instance, delivery: toUint32(u.Delivery), precedence: e.precedence,
	}
	switch kind {
	case runlog.KindRecorded:
		r.slot, r.detail, r.instance, r.delivery = int64(r.status), u.Reason, "", 0
	case runlog.KindHeld:
		r.slot, r.detail = logstore.HeldSlot(u.Instance, u.Delivery), u.Reason
	case runlog.KindStarted:
		r.slot, r.detail, r.at = int64(u.Delivery), u.Reason, cmp.Or(millis(u.StartedAt), r.at)
	case runlog.KindProgress:
		// Of the progress within a step the newest counts, else what was written first.
		r.slot, r.percent, r.detail, r.precedence = r.at/progressStep.Milliseconds(), u.Progress, u.ProgressText, r.at
	case runlog.KindLate:
		r.at = cmp.Or(reportedAt(u), r.at)
		r.slot, r.detail = r.at<<5|int64(r.status), u.Message // two ends of one instant differ in their status
	case runlog.KindMarked, runlog.KindOnHold, runlog.KindResumed:
		r.slot, r.instance, r.delivery, r.detail = r.at, u.By, markCodes[u.Mark], u.Reason
	case runlog.KindFinished: // follows from the run
	}
	e.rows = append(e.rows, r)
}

func (e *events) columns() []column {
	return []column{
		{"run_id", collect(e.rows, func(r *eventRow) uuid.UUID { return r.id })},
		{"broadcast_index", collect(e.rows, func(r *eventRow) int32 { return r.index })},
		{"attempt", collect(e.rows, func(r *eventRow) uint32 { return r.attempt })},
		{"group", collect(e.rows, func(r *eventRow) string { return r.job.Group() })},
		{"job", collect(e.rows, func(r *eventRow) string { return string(r.job) })},
		{"fire_time", collect(e.rows, func(r *eventRow) int64 { return r.fire })},
		{"kind", collect(e.rows, func(r *eventRow) int8 { return r.kind })},
		{"slot", collect(e.rows, func(r *eventRow) int64 { return r.slot })},
		{"at", collect(e.rows, func(r *eventRow) int64 { return r.at })},
		{"status", collect(e.rows, func(r *eventRow) int8 { return r.status })},
		{"instance", collect(e.rows, func(r *eventRow) string { return r.instance })},
		{"delivery", collect(e.rows, func(r *eventRow) uint32 { return r.delivery })},
		{"percent", collect(e.rows, func(r *eventRow) float64 { return r.percent })},
		{"detail", collect(e.rows, func(r *eventRow) string { return r.detail })},
		{"precedence", collect(e.rows, func(r *eventRow) int64 { return r.precedence })},
	}
}

// readEvents returns the events of a place. Where rows of one event wait for their
// merge, the one counts that will stay.
func (h *runHistory) readEvents(ctx context.Context, p place) ([]runlog.Change, error) {
	rows, err := h.conn.Query(ctx, "SELECT attempt, toString(job), toString(kind), at, toString(status), toString(instance), delivery, percent, detail FROM run_events "+
		"WHERE fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ? AND broadcast_index = ? ORDER BY precedence DESC LIMIT 1 BY attempt, kind, slot", p.fire, p.id, p.index)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	var all []runlog.Change
	for rows.Next() {
		c := runlog.Change{RunID: unpackID(p.id), Piece: pieceOf(p.index)}
		var attempt, delivery uint32
		var name, kind, status string
		if err := rows.Scan(&attempt, &name, &kind, &c.At, &status, &c.Instance, &delivery, &c.Progress, (*string)(&c.Detail)); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		c.Attempt, c.Job, c.Kind, c.At, c.Status, c.Delivery = int(attempt), job.Name(name), runlog.Kind(kind), c.At.UTC(), job.Status(status), int(delivery)
		if c.Kind.TimelineOnly() {
			c.Mark, c.By, c.Instance, c.Delivery = markOf[delivery], c.Instance, "", 0
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", database.Explain(err))
	}
	return all, nil
}

// addProgress sets the progress of those runs that have reported some.
func (h *runHistory) addProgress(ctx context.Context, rows []row, runs []runlog.Run) error {
	type key struct {
		place
		attempt uint32
	}
	of, wanted := map[key]int{}, map[place]bool{}
	for i := range rows {
		if rows[i].progress {
			of[key{rows[i].place, rows[i].attempt}], wanted[rows[i].place] = i, true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	ctx, err := withPlaces(ctx, wanted)
	if err != nil {
		return err
	}
	found, err := h.conn.Query(ctx, "SELECT fire_time, run_id, broadcast_index, attempt, argMax(percent, at), argMax(detail, at) FROM run_events WHERE kind = 'progress' AND "+byPlaces+
		" GROUP BY fire_time, run_id, broadcast_index, attempt")
	if err != nil {
		return fmt.Errorf("read progress: %w", database.Explain(err))
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var k key
		var fire time.Time
		var percent float64
		var text string
		if err := found.Scan(&fire, &k.id, &k.index, &k.attempt, &percent, &text); err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
		k.fire = fire.UnixMilli()
		if i, ok := of[k]; ok {
			runs[i].Progress, runs[i].ProgressText = percent, text
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("read progress: %w", database.Explain(err))
	}
	return nil
}
