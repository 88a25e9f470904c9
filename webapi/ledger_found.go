package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"carillon/job"
	"carillon/job/outcome"
	"carillon/job/rights"
	"carillon/logstore"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// ListDiscrepancies answers GET /ledger/discrepancies: what the continuous audit has
// found, from the log store, and what the bucket has that is not there yet.
func (h *handlers) ListDiscrepancies(ctx context.Context, r ListDiscrepanciesRequestObject) (ListDiscrepanciesResponseObject, error) {
	p := r.Params
	limit := cmp.Or(p.Limit, pageSize)
	kept := logstore.FactFilter{Kind: logstore.FactDiscrepancy, Group: p.Group, What: p.Job, From: p.From, To: p.To, Cursor: p.Cursor, Limit: limit}
	var after *logstore.FactCursor
	if p.Cursor != "" {
		c, err := logstore.ParseFactCursor(p.Cursor)
		if err != nil {
			return nil, err
		}
		after = &c
	}
	theirs := access.Who(ctx).Access
	fits := func(f *outcome.Finding) bool {
		return theirs.May(rights.Viewer, f.Job.Group()) && (p.Group == "" || f.Job.Group() == p.Group) && (p.Job == "" || string(f.Job) == p.Job) &&
			isBetween(f.FireTime, p.From, p.To)
	}
	found, busErr := h.conn.Findings(ctx)
	var now []outcome.Finding
	for i := range found {
		if fits(&found[i]) {
			now = append(now, found[i])
		}
	}
	stored, err := h.store.Facts(ctx, kept)
	if err != nil && (busErr != nil || errors.Is(err, job.ErrInvalid)) {
		return nil, problem.StoreAway(err)
	}
	if err != nil {
		h.log.DebugContext(ctx, "old discrepancies left out", "error", err)
	}
	var past []outcome.Finding
	for i := range stored.Facts {
		var f outcome.Finding
		if err := json.Unmarshal(stored.Facts[i].Doc, &f); err != nil {
			return nil, fmt.Errorf("decode discrepancy %s: %w", stored.Facts[i].ID, err)
		}
		past = append(past, f)
	}
	place := func(f *outcome.Finding) logstore.FactCursor {
		return logstore.FactCursor{At: f.FireTime, ID: string(f.RunID)}
	}
	items, next := auditlog.JoinPages(now, past, stored.Next != "", after, limit, place)
	return ListDiscrepancies200JSONResponse{Items: append([]Discrepancy{}, items...), Next: next}, nil
}

// isBetween reports whether an instant is in [from, to), each of which may be zero for none.
func isBetween(at, from, to time.Time) bool {
	return (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to))
}
