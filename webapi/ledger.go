package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// ledgerHandlers answer requests about whether each fire is accounted for.
type ledgerHandlers struct {
	ledger  *ledger.Ledger
	answers *runs.Answers
	jobs    *catalog.Search
	conn    *cluster.Conn
	store   logstore.Store // as access.VisibleStore has it
	log     *slog.Logger
}

// GetJobLedger answers GET /jobs/{group}/{name}/ledger.
func (h *ledgerHandlers) GetJobLedger(ctx context.Context, r GetJobLedgerRequestObject) (*LedgerPage, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	from, to, err := runs.PastRange(r.Params.From, r.Params.To)
	if err != nil {
		return nil, err
	}
	page, err := h.ledger.Job(ctx, name, ledger.JobRequest{
		From: from, To: to, Outcomes: r.Params.Outcome, Cursor: r.Params.Cursor, Limit: cmp.Or(r.Params.Limit, ledger.DefaultLimit),
		Steps: r.Params.Steps,
	})
	if err != nil {
		return nil, h.ledgerError(ctx, err)
	}
	return page, nil
}

// WhyJob answers GET /jobs/{group}/{name}/why.
func (h *ledgerHandlers) WhyJob(ctx context.Context, r WhyJobRequestObject) (*Answer, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	found, err := h.answers.Why(ctx, name, r.Params.At)
	if err != nil {
		return nil, h.ledgerError(ctx, err)
	}
	return &found, nil
}

// VerifyLedger answers GET /ledger.
func (h *ledgerHandlers) VerifyLedger(ctx context.Context, r VerifyLedgerRequestObject) (*VerifiedPage, error) {
	from, to, err := runs.PastRange(r.Params.From, r.Params.To)
	if err != nil {
		return nil, err
	}
	jobs, err := h.jobs.Within(ctx, catalog.Of{Group: r.Params.Group, Owner: r.Params.Owner, Tag: r.Params.Tag}, nil)
	if err != nil {
		return nil, err
	}
	request := ledger.Request{Jobs: jobs, From: from, To: to, Group: r.Params.Group, Cursor: r.Params.Cursor, Limit: r.Params.Limit}
	request.Visible = access.Seen(ctx)
	page, err := h.ledger.Audit(ctx, request)
	if err != nil {
		return nil, h.ledgerError(ctx, err)
	}
	return page, nil
}

// ledgerError names the part of the system that keeps the ledger from being read.
func (h *ledgerHandlers) ledgerError(ctx context.Context, err error) error {
	if errors.Is(err, job.ErrInvalid) || errors.Is(err, job.ErrNotFound) {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout) // the request's time may be over
	defer cancel()
	if _, away := h.store.Stats(asking); away != nil {
		return problem.Explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), "the log store does not answer, and the ledger compares the fires with it")
	}
	if _, away := h.conn.Pauses().Get(asking, ""); away != nil {
		return problem.Explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), "NATS does not answer, and the ledger reads jobs and positions there")
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, job.ErrUnavailable) {
		return problem.Explain(err, "the ledger was not read in time, though NATS and the log store answer; ask for a shorter range, or for one group")
	}
	return err
}

// ListDiscrepancies answers GET /ledger/discrepancies: what the continuous audit has
// found, from the log store, and what the bucket has that is not there yet.
func (h *ledgerHandlers) ListDiscrepancies(ctx context.Context, r ListDiscrepanciesRequestObject) (*DiscrepancyPage, error) {
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
	jobs, err := h.jobs.Within(ctx, catalog.Of{Group: p.Group, Owner: p.Owner, Tag: p.Tag}, nil)
	if err != nil {
		return nil, err
	}
	theirs := access.Who(ctx).Access
	fits := func(f *outcome.Finding) bool {
		return theirs.May(rights.Viewer, f.Job.Group()) && (p.Group == "" || f.Job.Group() == p.Group) && (p.Job == "" || string(f.Job) == p.Job) &&
			(jobs == nil || slices.Contains(jobs, f.Job)) && isBetween(f.FireTime, p.From, p.To)
	}
	found, busErr := h.conn.Findings().All(ctx)
	var now []outcome.Finding
	for i := range found {
		if fits(&found[i]) {
			now = append(now, found[i])
		}
	}
	past, more, err := h.findings(ctx, kept, busErr != nil, fits)
	if err != nil {
		return nil, err
	}
	place := func(f *outcome.Finding) logstore.FactCursor {
		return logstore.FactCursor{At: f.FireTime, ID: string(f.RunID)}
	}
	items, next := auditlog.JoinPages(now, past, more, after, limit, place)
	return &DiscrepancyPage{Items: append([]Discrepancy{}, items...), Next: next}, nil
}

// findings returns discrepancies of the log store that fit, as many as a page has or more, and whether
// there may be others. If the store does not answer, there are none, unless it must answer.
func (h *ledgerHandlers) findings(ctx context.Context, kept logstore.FactFilter, must bool, fits func(*outcome.Finding) bool) (found []outcome.Finding, more bool, err error) {
	for more = true; more && len(found) < kept.Limit; {
		stored, err := h.store.Facts(ctx, kept)
		if err != nil && (must || errors.Is(err, job.ErrInvalid)) {
			return nil, false, problem.StoreAway(err)
		}
		if err != nil {
			h.log.DebugContext(ctx, "old discrepancies left out", "error", err)
			return nil, false, nil
		}
		for i := range stored.Facts {
			var f outcome.Finding
			if err := json.Unmarshal(stored.Facts[i].Doc, &f); err != nil {
				return nil, false, fmt.Errorf("decode discrepancy %s: %w", stored.Facts[i].ID, err)
			}
			if fits(&f) {
				found = append(found, f)
			}
		}
		kept.Cursor, more = stored.Next, stored.Next != ""
	}
	return found, more, nil
}

// isBetween reports whether an instant is in [from, to), each of which may be zero for none.
func isBetween(at, from, to time.Time) bool {
	return (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to))
}
