package client

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// pageSize is the greatest that the API gives.
const pageSize = 1000

// Jobs returns the first most jobs that match params, or all of them if most is 0,
// reading as many pages as that takes. Next is set when there are more.
func (a *API) Jobs(ctx context.Context, params ListJobsParams, most int) (JobPage, error) {
	all := JobPage{Items: []JobItem{}}
	for {
		params.Limit = new(limit(most, len(all.Items)))
		page, err := Read[JobPage](a.ListJobs(ctx, &params))
		if err != nil {
			return all, err
		}
		all.Items, all.Total, all.Next = append(all.Items, page.Items...), page.Total, page.Next
		if page.Next == "" || len(all.Items) == most {
			return all, nil
		}
		params.Cursor = &page.Next
	}
}

// Runs returns the newest most runs that match params, as [API.Jobs] does.
func (a *API) Runs(ctx context.Context, params ListRunsParams, most int) (RunPage, error) {
	all := RunPage{Items: []Run{}}
	for {
		params.Limit = new(limit(most, len(all.Items)))
		page, err := Read[RunPage](a.ListRuns(ctx, &params))
		if err != nil {
			return all, err
		}
		all.Items, all.Next = append(all.Items, page.Items...), page.Next
		if page.Next == "" || len(all.Items) == most {
			return all, nil
		}
		params.Cursor = &page.Next
	}
}

// Pieces returns the first most pieces of a run, or all of them if most is 0, as
// [API.Jobs] does.
func (a *API) Pieces(ctx context.Context, id string, params ListPiecesParams, most int) (PieceList, error) {
	all := PieceList{Items: []Run{}}
	for {
		params.Limit = new(limit(most, len(all.Items)))
		page, err := Read[PieceList](a.ListPieces(ctx, id, &params))
		if err != nil {
			return all, err
		}
		all.Items, all.Total, all.Counts, all.NextIndex = append(all.Items, page.Items...), page.Total, page.Counts, page.NextIndex
		if page.NextIndex == 0 || len(all.Items) == most {
			return all, nil
		}
		params.FromIndex = &page.NextIndex
	}
}

// Ledger returns the newest most entries of a job's ledger that match params, or all of
// them if most is 0, as [API.Jobs] does. Its counts are of all that was looked at.
func (a *API) Ledger(ctx context.Context, name job.Name, params GetJobLedgerParams, most int) (LedgerPage, error) {
	all := LedgerPage{Items: []LedgerEntry{}}
	for {
		params.Limit = new(limit(most, len(all.Items)))
		page, err := Read[LedgerPage](a.GetJobLedger(ctx, name.Group(), name.Short(), &params))
		if err != nil {
			return all, err
		}
		page.Items = append(all.Items, page.Items...)
		page.Counts.Merge(all.Counts)
		if all = page; page.Next == "" || len(all.Items) >= most && most > 0 {
			return all, nil
		}
		params.Cursor = &page.Next
	}
}

// Verified returns the audit of all jobs that match params, reading as many pages as
// that takes, each as [Again] does. After each but the last, came is called with what there is so
// far; so much is returned with an error, too.
func (a *API) Verified(ctx context.Context, params VerifyLedgerParams, came func(VerifiedPage), said func(error, time.Duration)) (VerifiedPage, error) {
	all := VerifiedPage{Days: []LedgerDay{}, Discrepancies: []Finding{}}
	for {
		page, err := Again(ctx, said, func() (VerifiedPage, error) { return Read[VerifiedPage](a.VerifyLedger(ctx, &params)) })
		if err != nil {
			return all, err
		}
		all.Days = append(all.Days, page.Days...)
		all.Discrepancies = append(all.Discrepancies, page.Discrepancies...)
		all.Total.Merge(page.Total)
		if all.DecidedUntil.IsZero() || page.DecidedUntil.Before(all.DecidedUntil) {
			all.DecidedUntil = page.DecidedUntil
		}
		if page.Next == "" {
			return all, nil
		}
		came(all)
		params.Cursor = &page.Next
	}
}

// limit returns how much to ask for next when have of most have come.
func limit(most, have int) int {
	if most == 0 {
		return pageSize
	}
	return min(most-have, pageSize)
}

// DeadLetters returns the newest most refused messages, or all of them if most is 0, as
// [API.Jobs] does.
func (a *API) DeadLetters(ctx context.Context, most int) (DeadLetterPage, error) {
	all := DeadLetterPage{Items: []DeadLetter{}}
	for params := (ListDeadLettersParams{}); ; {
		params.Limit = new(limit(most, len(all.Items)))
		page, err := Read[DeadLetterPage](a.ListDeadLetters(ctx, &params))
		if err != nil {
			return all, err
		}
		all.Items, all.Total, all.Next = append(all.Items, page.Items...), page.Total, page.Next
		if page.Next == "" || len(all.Items) == most {
			return all, nil
		}
		params.Cursor = &page.Next
	}
}
