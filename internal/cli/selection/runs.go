package selection

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// Runs is the flags that say which runs to change, in the place of their ids.
type Runs struct {
	Options
	RunFilter
}

// Flags adds the flags to a command.
func (c *Runs) Flags(cmd *cobra.Command) {
	c.RunFilter.Flags(cmd, "all")
	c.confirmFlags(cmd)
}

// Args returns an error unless a command has the ids of runs, or a filter.
func (c *Runs) Args(_ *cobra.Command, args []string) error {
	if cli.ExactlyOne(len(args) > 0, c.given()) {
		return nil
	}
	return errors.New("name runs by id, or select them with a filter such as --job")
}

// ChangeRuns is ChangeJobs, of runs. line says what became of one.
func ChangeRuns(r *cli.Remote, cmd *cobra.Command, args []string, c *Runs, b client.RunBulk, line func(client.RunBulkItem) string) error {
	ids := make([]job.RunID, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = cli.RunID(arg); err != nil {
			return err
		}
	}
	filter, err := c.bulk(time.Now())
	if err != nil {
		return cli.Usage(err)
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	runs := bulk[job.RunID, client.RunBulkItem]{
		what: "run", verb: string(b.Action),
		ask: func(ids []job.RunID, cursor string, dryRun bool) ([]client.RunBulkItem, string, error) {
			if b.Runs, b.Cursor, b.DryRun, b.Filter = ids, cursor, dryRun, nil; len(ids) == 0 {
				b.Filter = filter
			}
			answer, err := client.Read[client.RunBulkResult](api.ChangeRuns(cmd.Context(), nil, b))
			return answer.Items, answer.Next, err
		},
		result: func(item client.RunBulkItem) (job.RunID, client.BulkOutcome, *client.Problem) {
			return item.RunID, item.Result, item.Problem
		},
		// One that the history does not have yet it soon will.
		again: func(item client.RunBulkItem) bool {
			return item.Problem != nil && item.Problem.Code == "not_found" && time.Since(item.RunID.Time()).Abs() <= cli.HistoryDelay
		},
		show: func(item client.RunBulkItem, dryRun bool) (any, string) {
			if dryRun {
				return item, fmt.Sprintf("run %s of %s, %s", item.RunID, item.Job, item.Status)
			}
			return item, line(item)
		},
	}
	return runs.change(r, cmd, ids, &c.Options)
}
