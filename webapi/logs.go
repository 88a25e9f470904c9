package webapi

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// logHandlers answer requests about what runs have printed.
type logHandlers struct {
	runs  *runs.Runs
	store logstore.Store // as access.VisibleStore has it
}

// linesPerPage is how many lines a page of logs has by default; the contract states
// it.
const linesPerPage = 1000

// SearchLogs answers GET /logs.
func (h *logHandlers) SearchLogs(ctx context.Context, r SearchLogsRequestObject) (*LogHits, error) {
	p := r.Params
	filter := logstore.SearchFilter{
		Text: p.Text, Levels: p.Level, Group: p.Group, RunID: job.RunID(p.RunID),
		Jobs: runs.Names(p.Job), From: p.From.UTC(), To: p.To.UTC(), Limit: p.Limit, Cursor: p.Cursor,
	}
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	found, err := h.store.Search(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	hits, err := runs.Hits(ctx, h.store, p.Text, found.Lines, p.Context)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if err := h.runs.NameSteps(ctx, hits); err != nil {
		return nil, err
	}
	return &LogHits{Items: hits, Next: found.Next}, nil
}

// countedBack is how long before its end the range of a histogram begins by default; the
// contract states it.
const countedBack = 7 * logstore.Day

// CountLogs answers GET /logs/histogram.
func (h *logHandlers) CountLogs(ctx context.Context, r CountLogsRequestObject) (*LogHistogram, error) {
	p := r.Params
	filter := logstore.HitCountFilter{
		SearchFilter: logstore.SearchFilter{
			Text: p.Text, Levels: p.Level, Jobs: runs.Names(p.Job), Group: p.Group, RunID: job.RunID(p.RunID), From: p.From.UTC(), To: p.To.UTC(),
		},
		Parts: cmp.Or(p.Parts, 60),
	}
	if filter.To.IsZero() {
		filter.To = time.Now().UTC().Truncate(time.Millisecond)
	}
	if filter.From.IsZero() {
		filter.From = filter.To.Add(-countedBack)
		if id, err := job.ParseRunID(p.RunID); err == nil {
			filter.From = id.Time()
		}
	}
	if span := filter.To.Sub(filter.From); span > 0 { // shorter parts than a millisecond there are none
		filter.Parts = min(filter.Parts, max(int(span/time.Millisecond), 1))
	}
	counts, err := h.store.CountHits(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &LogHistogram{
		From: counts.From, To: counts.To, Step: job.Duration(counts.Step), Since: counts.Since, Complete: counts.Complete(), Buckets: counts.Buckets,
	}, nil
}

// GetLogs answers GET /runs/{run_id}/logs.
func (h *logHandlers) GetLogs(ctx context.Context, r GetLogsRequestObject) (any, error) {
	p := r.Params
	filter, err := h.logOf(ctx, r.RunID, p.Attempt, runs.PieceOf(p.BroadcastIndex))
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(p.Limit, linesPerPage)
	filter.FromSeq, filter.ToSeq, filter.Levels, filter.Limit, filter.Tail = p.FromSeq, p.ToSeq, p.Level, limit, p.Tail
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	lines, err := h.store.Lines(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if ctx.Value(wantsText{}) != nil {
		return text(textOf(lines)), nil
	}
	page := LogPage{RunID: filter.RunID, Attempt: filter.Attempt, BroadcastIndex: filter.Piece, Items: append([]LogLine{}, lines...)}
	if len(lines) == limit && !p.Tail {
		page.NextSeq = lines[limit-1].Seq + 1
	}
	return &page, nil
}

// FindInLogs answers GET /runs/{run_id}/logs/find.
func (h *logHandlers) FindInLogs(ctx context.Context, r FindInLogsRequestObject) (*LogFind, error) {
	p := r.Params
	find, err := runs.NewFinder(p.Text, p.Regex, p.Level)
	if err != nil {
		return nil, err
	}
	log, err := h.logOf(ctx, r.RunID, p.Attempt, runs.PieceOf(p.BroadcastIndex))
	if err != nil {
		return nil, err
	}
	if err := log.Validate(); err != nil {
		return nil, err
	}
	found, err := runs.FindLines(ctx, h.store, log, find)
	return &found, problem.StoreAway(err)
}

// logOf returns the log of an attempt of a run, by default the newest one, or of a piece of it.
func (h *logHandlers) logOf(ctx context.Context, runID string, attempt int, piece runlog.Piece) (logstore.LineFilter, error) {
	log := logstore.LineFilter{Attempt: attempt, Piece: piece}
	var err error
	if log.RunID, err = job.ParseRunID(runID); err != nil {
		return log, err
	}
	if log.Attempt == 0 {
		if log.Attempt, err = h.runs.NewestAttempt(ctx, runID, piece); err != nil {
			return log, err
		}
	}
	switch attempts, err := h.runs.Attempts(ctx, runID); {
	case err == nil:
		log.Job = attempts[0].Job
	case !errors.Is(err, job.ErrNotFound) || errors.Is(err, access.ErrOthers): // it may not be stored yet
		return log, err
	}
	return log, nil
}

func textOf(lines []runlog.Line) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString(lines[i].Text)
		b.WriteByte('\n')
	}
	return b.String()
}
