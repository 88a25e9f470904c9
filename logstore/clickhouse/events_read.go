package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"carillon/job"
	"carillon/logstore"
)

// event is a row of run_events.
type event struct {
	logstore.Change

	version                int
	cause                  job.Cause
	committedAt, startedAt time.Time
	madeBy                 string
	slot                   int64
	precedence             int64
}

func (s *Store) events(ctx context.Context, condition string, args ...any) ([]event, error) {
	rows, err := s.conn.Query(ctx, "SELECT run_id, attempt, job, version, toString(cause), toString(kind), slot, at, toString(status), committed_at, started_at, "+
		"toString(instance), delivery, percent, detail, made_by, precedence FROM run_events WHERE "+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	// Where rows of one event wait for their merge, the one counts that will stay.
	type identity struct {
		id      job.RunID
		attempt int
		kind    logstore.Kind
		slot    int64
	}
	var found []event
	places := map[identity]int{}
	for rows.Next() {
		var e event
		var id uuid.UUID
		var attempt, version, delivery uint32
		var name, cause, kind, status string
		if err := rows.Scan(&id, &attempt, &name, &version, &cause, &kind, &e.slot, &e.At, &status, &e.committedAt, &e.startedAt,
			&e.Instance, &delivery, &e.Progress, &e.Detail, &e.madeBy, &e.precedence); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		e.RunID, e.Attempt, e.Job, e.version, e.Delivery = unpackID(id), int(attempt), job.Name(name), int(version), int(delivery)
		e.cause, e.Kind, e.Status, e.At = job.Cause(cause), logstore.Kind(kind), job.Status(status), e.At.UTC()
		e.committedAt, e.startedAt = instant(e.committedAt), instant(e.startedAt)
		identity := identity{e.RunID, e.Attempt, e.Kind, e.slot}
		if i, again := places[identity]; !again {
			places[identity] = len(found)
			found = append(found, e)
		} else if e.precedence > found[i].precedence {
			found[i] = e
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", explain(err))
	}
	return found, nil
}

// complete adds to the runs that have ended what their events tell and, if open, the
// runs that have not.
func complete(ended []logstore.Run, events []event, open bool) []logstore.Run {
	type identity struct {
		id      job.RunID
		attempt int
	}
	places := make(map[identity]int, len(ended))
	for i := range ended {
		places[identity{ended[i].RunID, ended[i].Attempt}] = i
	}
	all := make([]merge, len(ended), len(ended)+len(events))
	for i := range ended {
		all[i].Run = ended[i]
	}
	for i := range events {
		e := &events[i]
		if e.Kind == logstore.KindLate {
			continue
		}
		place, ok := places[identity{e.RunID, e.Attempt}]
		if !ok && !open {
			continue
		}
		if !ok {
			place = len(all)
			places[identity{e.RunID, e.Attempt}] = place
			all = append(all, merge{Run: logstore.Run{
				RunID: e.RunID, Job: e.Job, Version: e.version, Attempt: e.Attempt, Cause: e.cause, FireTime: e.RunID.Time(), Count: 1,
			}})
		}
		all[place].add(e)
	}
	runs := make([]logstore.Run, len(all))
	for i := range all {
		runs[i] = all[i].Run
	}
	return runs
}

// merge is a run that takes in events, in any order.
type merge struct {
	logstore.Run
	progressAt time.Time
}

func (m *merge) add(e *event) {
	speaks := e.Instance != "" && (m.Instance == "" || !isFinal(m.Status) && e.Delivery > m.Delivery)
	if !e.startedAt.IsZero() && (m.StartedAt.IsZero() || speaks) {
		m.StartedAt = e.startedAt
	}
	if speaks {
		m.Instance, m.Delivery = e.Instance, e.Delivery
	}
	if statusCodes[e.Status] > statusCodes[m.Status] {
		m.Status = e.Status
	}
	if !e.committedAt.IsZero() && (m.CommittedAt.IsZero() || e.committedAt.Before(m.CommittedAt)) {
		m.CommittedAt = e.committedAt
	}
	switch e.Kind {
	case logstore.KindRecorded:
		if m.Reason == "" {
			m.Reason = e.Detail
		}
		if m.By == "" {
			m.By = e.madeBy
		}
	case logstore.KindProgress:
		if e.At.After(m.progressAt) {
			m.progressAt, m.Progress, m.ProgressText = e.At, e.Progress, e.Detail
		}
	case logstore.KindHeld, logstore.KindStarted, logstore.KindFinished, logstore.KindLate:
	}
}
