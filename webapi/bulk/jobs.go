package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// Jobs does to each of some jobs what a request of its own would do.
func (m *Bulk) Jobs(ctx context.Context, b *api.JobBulk) (api.JobBulkResult, error) {
	limit, err := bulkPage(len(b.Jobs), "jobs", b.Filter != nil, b.Cursor, b.Limit)
	noted := b.Action == api.JobBulkActionPause || b.Action == api.JobBulkActionResume || b.Action == api.JobBulkActionEdit
	err = errors.Join(err, onlyFor("note", b.Note != "" && !noted, "pause, resume or edit"), onlyFor("run_id", b.RunID != "" && b.Action != api.JobBulkActionRun, "run"))
	edits := b.Action == api.JobBulkActionEdit
	err = errors.Join(err, onlyFor("owner", b.Owner != nil && !edits, "edit"), onlyFor("add_tags", len(b.AddTags) > 0 && !edits, "edit"), onlyFor("remove_tags", len(b.RemoveTags) > 0 && !edits, "edit"))
	if edits && b.Owner == nil && len(b.AddTags) == 0 && len(b.RemoveTags) == 0 {
		err = errors.Join(err, job.Invalid("owner", "must be given, or add_tags, or remove_tags, with action edit"))
	}
	err = errors.Join(err, catalog.CheckUntil(b.Action == api.JobBulkActionPause, b.Until, time.Now()))
	if b.RunID == "" {
		b.RunID = job.NewRunID(time.Now())
	} else if _, bad := job.ParseRunID(string(b.RunID)); bad != nil {
		err = errors.Join(err, bad)
	}
	if err != nil {
		return api.JobBulkResult{}, err
	}
	result := api.JobBulkResult{Action: string(b.Action), DryRun: b.DryRun}
	names := once(b.Jobs)
	result.Total = len(names)
	if b.Filter != nil {
		page, err := m.catalog.Search().Find(ctx, searchOf(b.Filter), "", b.Cursor, limit)
		if err != nil {
			return api.JobBulkResult{}, err
		}
		for _, entry := range page.Entries {
			names = append(names, entry.Job.Job)
		}
		result.Total, result.Next = page.Total, page.Next
	}
	result.Items = make([]api.JobBulkItem, len(names))
	for i, name := range names {
		result.Items[i].Job = name
	}
	step := func(_ context.Context, i int) (bulkStep, error) { return m.jobStep(b, &result.Items[i]) }
	m.each(ctx, len(names), b.DryRun, step, func(i int, outcome api.BulkOutcome, why *api.Problem) {
		result.Items[i].Result, result.Items[i].Problem = outcome, why
	})
	return result, nil
}

// searchOf returns what a filter searches for.
func searchOf(f *api.JobFilter) catalog.Filter {
	return catalog.Filter{Group: f.Group, Text: f.Q, Paused: f.Paused, Last: f.Last, Where: f.Where}
}

// jobStep returns what a request does to the job of an item.
func (m *Bulk) jobStep(b *api.JobBulk, item *api.JobBulkItem) (bulkStep, error) {
	name, err := job.ParseName(string(item.Job))
	if err != nil {
		return bulkStep{}, err
	}
	s := bulkStep{group: name.Group(), names: map[string]string{"group": name.Group(), "name": name.Short()}}
	// exists says of a dry run that the job is there, which is all that it takes.
	exists := func(ctx context.Context) (bool, error) {
		_, err := m.conn.Jobs().Get(ctx, name)
		return err == nil, err
	}
	switch b.Action {
	case api.JobBulkActionPause, api.JobBulkActionResume:
		wish := catalog.Pause{Paused: b.Action == api.JobBulkActionPause, Until: b.Until}
		s.operation = map[bool]string{true: "pauseJob", false: "resumeJob"}[wish.Paused]
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				entry, err := m.conn.Jobs().Get(ctx, name)
				return err == nil && !wish.Holds(&entry.Job, time.Now()), err
			}
			_, changed, err := m.catalog.SetPaused(ctx, name, cluster.Edit{At: time.Now(), Author: access.Author(ctx), Note: b.Note}, wish)
			return changed, err
		}
	case api.JobBulkActionRun:
		s.operation = "runJob"
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				return exists(ctx)
			}
			accepted, err := m.runs.Start(ctx, name, &api.RunRequest{RunID: b.RunID, Cause: job.CauseManual})
			item.RunID = accepted.RunID
			return err == nil, err
		}
	case api.JobBulkActionEdit:
		s.operation = "putJob"
		s.do = func(ctx context.Context, dryRun bool) (bool, error) { return m.catalog.EditAbout(ctx, name, b, dryRun) }
	case api.JobBulkActionDelete:
		s.operation = "deleteJob"
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				return exists(ctx)
			}
			err := m.catalog.Delete(ctx, name, cluster.Edit{At: time.Now(), Author: access.Author(ctx)})
			return err == nil, err
		}
	}
	return s, nil
}
