package runs

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// NameSteps adds to hits which steps of workflows have said them. It reads the runs of jobs that have steps now,
// each once, and no others.
func (rs *Runs) NameSteps(ctx context.Context, hits []runlog.Hit) error {
	workflows := map[job.Name]bool{}
	of := map[job.RunID][]*runlog.Hit{}
	for i := range hits {
		h := &hits[i]
		steps, known := workflows[h.Job]
		if !known {
			entry, err := rs.conn.Jobs().Get(ctx, h.Job)
			if err != nil && !errors.Is(err, job.ErrNotFound) && rs.view.WithoutBus(ctx, err) != nil {
				return err
			}
			steps = err == nil && len(entry.Steps) > 0
			workflows[h.Job] = steps
		}
		if steps {
			of[h.RunID] = append(of[h.RunID], h)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(hitReads)
	for id, said := range of {
		g.Go(func() error {
			attempts, err := rs.store.Run(ctx, id)
			if errors.Is(err, job.ErrNotFound) {
				return nil
			}
			if err != nil {
				return problem.StoreAway(err)
			}
			if r := &attempts[0]; r.Step != "" {
				for _, h := range said {
					h.Step, h.Workflow = r.Step, r.Parent
				}
			}
			return nil
		})
	}
	return g.Wait()
}
