package bulk

import (
	"context"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
)

// Start makes for each entry the run that a request of its own would make.
func (m *Bulk) Start(ctx context.Context, entries []api.RunBatchEntry) api.RunBatchResult {
	items := make([]api.RunBatchItem, len(entries))
	step := func(_ context.Context, i int) (bulkStep, error) {
		name, err := job.ParseName(string(entries[i].Job))
		if err != nil {
			return bulkStep{}, err
		}
		return bulkStep{
			operation: "runJob", group: name.Group(), names: map[string]string{"group": name.Group(), "name": name.Short()},
			do: func(ctx context.Context, _ bool) (bool, error) {
				accepted, err := m.runs.Start(ctx, name, &entries[i].Run)
				if err == nil {
					items[i].Accepted = &accepted
				}
				return err == nil, err
			},
		}, nil
	}
	m.each(ctx, len(entries), false, step, func(i int, _ api.BulkOutcome, why *api.Problem) { items[i].Problem = why })
	return api.RunBatchResult{Items: items}
}
