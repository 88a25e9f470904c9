package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

const (
	// maxOpenBackfills is how many backfills of many jobs may be unfinished, and backfillsShown how many a list has.
	maxOpenBackfills = 50
	backfillsShown   = 200
)

// backfillOne is the operation that a backfill of many jobs does to each: who may do that to a job may do it here.
const backfillOne = "backfillJob"

// Backfills are the backfills of many jobs. It is safe for concurrent use.
type Backfills struct{ *Bulk }

// BackfillsOf returns the backfills of many jobs.
func BackfillsOf(m *Bulk) Backfills { return Backfills{m} }

// Create plans a backfill of many jobs and, without dryRun, starts it. With the id of one that there is already, it
// returns that.
func (bf Backfills) Create(ctx context.Context, r *api.BulkBackfillRequest, dryRun bool) (result api.BulkBackfillResult, err error) {
	b, err := bf.document(ctx, r)
	if err != nil {
		return result, err
	}
	if !dryRun && r.ID != "" {
		if known, err := bf.Get(ctx, r.ID); !errors.Is(err, job.ErrNotFound) {
			auditlog.Entry(ctx).Same = true
			return api.BulkBackfillResult{Items: []api.BulkBackfillPlan{}, Backfill: known}, err
		}
	}
	names, err := bf.selected(ctx, r)
	if err != nil {
		return result, err
	}
	if result.Items, err = bf.plan(ctx, names, b); err != nil {
		return result, err
	}
	for i := range result.Items {
		if p := &result.Items[i]; p.Fires > 0 {
			b.Jobs = append(b.Jobs, backfill.Part{Job: p.Job, State: backfill.Waiting, Fires: p.Fires, Round: 1})
			result.Fires += p.Fires
		}
	}
	if result.Fires > backfill.MaxFires {
		return result, job.Invalid("to", "selects %d fires of %d jobs; a backfill runs at most %d", result.Fires, len(b.Jobs), backfill.MaxFires)
	}
	if result.DryRun = dryRun; dryRun {
		return result, nil
	}
	if len(b.Jobs) == 0 {
		return result, fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkNothing)
	}
	result.Backfill = b
	return result, bf.start(ctx, b)
}

// document returns the backfill that a request asks for, without its jobs.
func (bf Backfills) document(ctx context.Context, r *api.BulkBackfillRequest) (*backfill.Bulk, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	b := &backfill.Bulk{
		ID: cmp.Or(r.ID, runs.NewBackfillID()), Name: strings.TrimSpace(r.Name), From: r.From.UTC(), To: r.To.UTC(), Only: cmp.Or(r.Only, "missed"), Again: r.Again,
		AtOnce: cmp.Or(r.AtOnce, 1), CreatedAt: now, By: access.Author(ctx), Events: []backfill.Event{{At: now, By: access.Author(ctx), Act: backfill.Created, Note: r.Note}},
	}
	var errs []error
	if (r.Filter != nil) == (len(r.Jobs) > 0) {
		errs = append(errs, job.Invalid("jobs", "must be given, or filter, and not both"))
	}
	if b.Name == "" {
		errs = append(errs, job.Invalid("name", "must not be empty"))
	}
	errs = append(errs, backfill.CheckID(b.ID), runs.CheckBackfillRange(b.From, b.To))
	return b, errors.Join(errs...)
}

// selected returns the jobs that a request names or finds, in order of name.
func (bf Backfills) selected(ctx context.Context, r *api.BulkBackfillRequest) ([]job.Name, error) {
	names := once(r.Jobs)
	if r.Filter != nil {
		page, err := bf.catalog.Search().Find(ctx, searchOf(r.Filter), "", "", backfill.MaxJobs)
		if err != nil {
			return nil, err
		}
		if page.Total > backfill.MaxJobs {
			return nil, job.Invalid("filter", "selects %d jobs; a backfill has at most %d", page.Total, backfill.MaxJobs)
		}
		for _, entry := range page.Entries {
			names = append(names, entry.Job.Job)
		}
	}
	slices.Sort(names)
	return names, nil
}

// start stores a new backfill, for package ledger/backfills to carry out.
func (bf Backfills) start(ctx context.Context, b *backfill.Bulk) error {
	all, err := cluster.BackfillsOf(bf.conn).All(ctx)
	if err != nil {
		return err
	}
	open := 0
	for i := range all {
		if all[i].EndedAt.IsZero() {
			open++
		}
	}
	if open >= maxOpenBackfills {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkBackfillsMany.With(open))
	}
	if err := cluster.BackfillsOf(bf.conn).Create(ctx, b); err != nil {
		return err
	}
	auditlog.Entry(ctx).Object = "backfill " + b.ID
	return auditlog.Describe(ctx, true, b.Events[0].Note, nil, map[string]any{"name": b.Name, "from": b.From, "to": b.To, "only": b.Only, "jobs": jobsOf(b)})
}

func jobsOf(b *backfill.Bulk) []job.Name {
	names := make([]job.Name, len(b.Jobs))
	for i := range b.Jobs {
		names[i] = b.Jobs[i].Job
	}
	return names
}

// List returns the newest backfills that have jobs which the caller may see.
func (bf Backfills) List(ctx context.Context) (api.BulkBackfillList, error) {
	all, err := cluster.BackfillsOf(bf.conn).All(ctx)
	if err != nil {
		return api.BulkBackfillList{}, err
	}
	slices.SortFunc(all, func(a, b backfill.Bulk) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	list := api.BulkBackfillList{Items: []api.BulkBackfillItem{}}
	for i := range all {
		if b := &all[i]; len(list.Items) < backfillsShown && reduce(ctx, b) {
			list.Items = append(list.Items, itemOf(b))
		}
	}
	return list, nil
}

// itemOf returns a backfill as a list has it.
func itemOf(b *backfill.Bulk) api.BulkBackfillItem {
	item := api.BulkBackfillItem{
		ID: b.ID, Name: b.Name, From: b.From, To: b.To, Only: b.Only, CreatedAt: b.CreatedAt, By: b.By, Paused: b.Paused, Cancelled: b.Cancelled,
		EndedAt: b.EndedAt, Jobs: len(b.Jobs),
	}
	for i := range b.Jobs {
		p := &b.Jobs[i]
		item.Fires += p.Fires
		item.Begun += p.Begun
		item.Succeeded += p.Succeeded
		item.Failed += p.Failed
		if p.Over() {
			item.Over++
		}
		if p.State == backfill.Refused {
			item.Refused++
		}
	}
	return item
}

// reduce leaves the jobs in b that the caller may see, and reports whether there are any.
func reduce(ctx context.Context, b *backfill.Bulk) bool {
	may := access.Who(ctx).Access
	b.Jobs = slices.DeleteFunc(b.Jobs, func(p backfill.Part) bool { return !may.May(rights.Viewer, p.Job.Group()) })
	return len(b.Jobs) > 0
}

// Get returns a backfill with its jobs that the caller may see, as their owners have them. The error is
// job.ErrNotFound, also when there are no such jobs.
func (bf Backfills) Get(ctx context.Context, id string) (*backfill.Bulk, error) {
	b, err := bf.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	if !reduce(ctx, b) {
		return nil, notFound(id)
	}
	bf.addProgress(ctx, b)
	return b, nil
}

func (bf Backfills) stored(ctx context.Context, id string) (*backfill.Bulk, error) {
	if err := backfill.CheckID(id); err != nil {
		return nil, err
	}
	return cluster.BackfillsOf(bf.conn).Get(ctx, id)
}

func notFound(id string) error { return fmt.Errorf("%w: backfill %s", job.ErrNotFound, id) }

// addProgress adds what the owners of jobs at work know. One that does not answer adds nothing.
func (bf Backfills) addProgress(ctx context.Context, b *backfill.Bulk) {
	var g errgroup.Group
	g.SetLimit(bulkAtOnce)
	for i := range b.Jobs {
		p := &b.Jobs[i]
		if !p.AtWork() {
			continue
		}
		g.Go(func() error {
			list, err := runs.BackfillsOf(bf.runs).List(ctx, p.Job)
			for j := range list.Items {
				if f := &list.Items[j]; err == nil && f.ID == b.RoundID(p.Round) {
					p.AddProgress(f)
				}
			}
			return nil
		})
	}
	_ = g.Wait() // no error matters
}

// Act changes a backfill, and reports whether it did.
type Act func(*backfill.Bulk, backfill.Event) (bool, error)

// Change does something to a backfill, of which the caller must be an operator in all groups. Errors: job.ErrNotFound,
// problem.ErrForbidden, those of act.
func (bf Backfills) Change(ctx context.Context, id, note string, act Act) (*backfill.Bulk, error) {
	b, err := bf.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	all := jobsOf(b)
	if !reduce(ctx, b) {
		return nil, notFound(id)
	}
	for _, name := range all {
		if err := access.MayDo(ctx, backfillOne, name.Group()); err != nil {
			return nil, err
		}
	}
	e := auditlog.Entry(ctx)
	e.Note = note
	b, err = cluster.BackfillsOf(bf.conn).Edit(ctx, id, func(b *backfill.Bulk) (bool, error) {
		changed, err := act(b, backfill.Event{At: time.Now().UTC().Truncate(time.Millisecond), By: access.Author(ctx), Note: note})
		e.Same = !changed
		return changed, err
	})
	if err != nil {
		return nil, err
	}
	bf.addProgress(ctx, b)
	return b, nil
}

// plan returns what a backfill would run of each job. The error is job.ErrUnavailable if that is not known of one.
func (bf Backfills) plan(ctx context.Context, names []job.Name, b *backfill.Bulk) ([]api.BulkBackfillPlan, error) {
	paused, err := bf.pauses(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]api.BulkBackfillPlan, len(names))
	unknown := make([]error, len(names))
	step := func(_ context.Context, i int) (bulkStep, error) {
		name := items[i].Job
		return bulkStep{operation: backfillOne, group: name.Group(), do: func(ctx context.Context, _ bool) (bool, error) {
			return true, bf.planOne(ctx, &items[i], b, paused)
		}}, nil
	}
	for i, name := range names {
		items[i] = api.BulkBackfillPlan{Job: name, Others: []api.OtherFires{}}
	}
	bf.each(ctx, len(names), true, step, func(i int, _ api.BulkOutcome, why *api.Problem) {
		items[i].Problem = why
		if why != nil && why.Code == api.CodeUnavailable {
			unknown[i] = problem.Explain(job.ErrUnavailable, why.Detail)
		}
	})
	return items, cmp.Or(unknown...)
}

// planOne fills in what a backfill would run of a job.
func (bf Backfills) planOne(ctx context.Context, item *api.BulkBackfillPlan, b *backfill.Bulk, paused pauses) error {
	if _, err := job.ParseName(string(item.Job)); err != nil {
		return err
	}
	plan, entry, err := runs.BackfillsOf(bf.runs).Plan(ctx, item.Job, &api.BackfillRequest{From: b.From, To: b.To, Only: b.Only, Again: b.Again})
	if err != nil {
		return err
	}
	item.LeftOut, item.Others = plan.LeftOut, plan.Others
	if why := paused.of(&entry.Job); why != "" {
		return fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	if item.Fires = len(plan.Fires); item.Fires == 0 {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.BackfillNothing)
	}
	return nil
}
