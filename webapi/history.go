package webapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// GetHistory answers GET /history.
func (h *systemHandlers) GetHistory(ctx context.Context, _ GetHistoryRequestObject) (*HistoryState, error) {
	state := HistoryState{AsOf: time.Now().UTC().Truncate(time.Millisecond), StoreAnswers: true}
	backlogs, err := h.conn.Ingest().Backlogs(ctx)
	if err != nil {
		if !slices.ContainsFunc(backlogs, func(b fleet.IngestBacklog) bool { return !b.Unavailable }) {
			return nil, err
		}
		h.log.DebugContext(ctx, "backlog of some streams not known", "error", err)
	}
	state.Backlog = backlogs
	for _, b := range backlogs {
		if !b.Since.IsZero() && b.Since.Before(state.AsOf) {
			state.AsOf = b.Since
		}
	}
	if state.CaughtUpAt, err = h.forecast(ctx, backlogs); err != nil {
		return nil, err
	}
	if state.DeadLetters, err = h.conn.DeadLetters().Count(ctx); err != nil {
		return nil, err
	}
	if h.stoodIn != nil {
		if state.StandIn = h.stoodIn.StandIn(); state.StandIn != nil { // nor would it answer us
			state.StoreAnswers = false
			return &state, nil
		}
	}
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	stats, err := h.store.Stats(asking)
	if err != nil {
		h.log.DebugContext(ctx, "log store does not answer", "error", err)
		state.StoreAnswers = false
		return &state, nil
	}
	state.Bytes, state.OldestRun = stats.Bytes, stats.OldestRun
	state.DiskBytes, state.DiskFreeBytes = stats.Disk.Total, stats.Disk.Free
	return &state, nil
}

// forecast notes in backlogs how fast they shrink, and returns when the log store will have
// caught up; zero when it is not behind, or nobody knows.
func (h *systemHandlers) forecast(ctx context.Context, backlogs []fleet.IngestBacklog) (time.Time, error) {
	pace, err := h.conn.Ingest().Pace(ctx)
	if errors.Is(err, job.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return pace.Forecast(backlogs, time.Now()).UTC().Truncate(time.Second), nil
}

// ListDeadLetters answers GET /dead-letters.
func (h *systemHandlers) ListDeadLetters(ctx context.Context, r ListDeadLettersRequestObject) (*DeadLetterPage, error) {
	limit := cmp.Or(r.Params.Limit, pageSize)
	var before uint64
	if r.Params.Cursor != "" {
		var err error
		if before, err = strconv.ParseUint(r.Params.Cursor, 10, 64); err != nil || before == 0 {
			return nil, job.Invalid("cursor", "is none that this list gave")
		}
	}
	found, err := h.conn.DeadLetters().Page(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	total, err := h.conn.DeadLetters().Count(ctx)
	if err != nil {
		return nil, err
	}
	page := DeadLetterPage{Items: []DeadLetter{}, Total: total}
	for i := range found {
		page.Items = append(page.Items, found[i].DeadLetter)
	}
	if len(found) == limit {
		page.Next = strconv.FormatUint(found[limit-1].Sequence, 10)
	}
	return &page, nil
}

// GetDeadLetter answers GET /dead-letters/{sequence}.
func (h *systemHandlers) GetDeadLetter(ctx context.Context, r GetDeadLetterRequestObject) (*DeadLetterContent, error) {
	l, err := h.conn.DeadLetters().Get(ctx, r.Sequence)
	if err != nil {
		return nil, err
	}
	return &DeadLetterContent{
		Sequence: l.Sequence, At: l.At, Stream: l.Stream, Subject: l.Subject, Message: l.Message, Reason: l.Reason, Size: l.Size, Whole: l.Whole,
		Text: strings.ToValidUTF8(string(l.Data), "\uFFFD"),
	}, nil
}

// DeleteDeadLetter answers DELETE /dead-letters/{sequence}.
func (h *systemHandlers) DeleteDeadLetter(ctx context.Context, r DeleteDeadLetterRequestObject) (*none, error) {
	if _, err := h.letterToChange(ctx, r.Sequence); err != nil {
		return nil, err
	}
	return &none{}, h.conn.DeadLetters().Delete(ctx, r.Sequence)
}

// ReplayDeadLetter answers POST /dead-letters/{sequence}/replay.
func (h *systemHandlers) ReplayDeadLetter(ctx context.Context, r ReplayDeadLetterRequestObject) (*none, error) {
	l, err := h.letterToChange(ctx, r.Sequence)
	if err != nil {
		return nil, err
	}
	return &none{}, h.conn.DeadLetters().Replay(ctx, l)
}

// letterToChange returns a letter, and has the audit log say what it was.
func (h *systemHandlers) letterToChange(ctx context.Context, seq uint64) (*cluster.DeadLetter, error) {
	l, err := h.conn.DeadLetters().Get(ctx, seq)
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Detail = reason.Text(reason.Join(refusal.LetterOf.With(l.Subject, l.Stream), l.Reason))
	return l, nil
}
