package client

import (
	"context"
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

// limit returns how much to ask for next when have of most have come.
func limit(most, have int) int {
	if most == 0 {
		return pageSize
	}
	return min(most-have, pageSize)
}
