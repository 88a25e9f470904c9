package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// worst are final statuses, each worse than the one before.
var worst = []job.Status{
	job.StatusSucceeded, job.StatusMissed, job.StatusSkipped, job.StatusCancelled, job.StatusTimedOut, job.StatusFailed, job.StatusLost,
}

// chain is a run and all runs that follow from it.
type chain struct {
	cmd    *cobra.Command
	api    *client.API
	status job.Status // the worst of the runs
}

// awaitChain waits for the end of a run, and of those of the jobs that run after its job. The error has the
// exit code of the worst of them.
func awaitChain(r *cli.Remote, cmd *cobra.Command, api *client.API, first client.RunAccepted, follow bool) error {
	c := &chain{cmd: cmd, api: api, status: job.StatusSucceeded}
	next := []client.RunAccepted{first}
	for len(next) > 0 {
		run := next[0]
		status, err := showEnd(r, cmd, api, run, follow)
		if err != nil {
			return err
		}
		if slices.Index(worst, status) > slices.Index(worst, c.status) {
			c.status = status
		}
		children, err := c.children(cmd.Context(), run, status)
		if err != nil {
			return fmt.Errorf("look for what follows run %s: %w", run.RunID, err)
		}
		next = append(next[1:], children...)
	}
	return cli.RunOutcome(c.status)
}

// children returns the runs that the end of a run has made.
func (c *chain) children(ctx context.Context, run client.RunAccepted, status job.Status) (all []client.RunAccepted, err error) {
	if status == job.StatusSkipped || status == job.StatusMissed {
		return nil, nil // tells nobody
	}
	parent, err := c.definition(ctx, run.Job)
	if err != nil {
		return nil, err
	}
	for _, child := range parent.Children {
		if !child.Wants(status) {
			continue
		}
		if _, err := c.definition(ctx, child.Job); errors.Is(err, job.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		found, err := c.await(ctx, child.Job, run.RunID)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (c *chain) definition(ctx context.Context, name job.Name) (job.Job, error) {
	item, err := client.Read[client.JobItem](c.api.GetJob(ctx, name.Group(), name.Short(), &client.GetJobParams{Fires: new(0), Runs: new(0)}))
	return item.Definition.Job, err
}

// childDelay is how long a child's run may take to be in the history.
const childDelay = 2 * cli.HistoryDelay

// await waits until the history has a run of a job that follows another run.
func (c *chain) await(ctx context.Context, child job.Name, after job.RunID) ([]client.RunAccepted, error) {
	for deadline := time.Now().Add(childDelay); ; {
		page, err := c.api.Runs(ctx, client.ListRunsParams{Parent: new(string(after)), Job: &[]string{string(child)}}, 1)
		if err != nil {
			return nil, err
		}
		if len(page.Items) > 0 {
			return []client.RunAccepted{{RunID: page.Items[0].RunID, Job: child}}, nil
		}
		if !time.Now().Before(deadline) {
			_, _ = fmt.Fprintf(c.cmd.ErrOrStderr(), "no run of %s has followed within %s\n", child, childDelay)
			return nil, nil
		}
		if err := pause.For(ctx, cli.HistoryPause); err != nil {
			return nil, err
		}
	}
}
