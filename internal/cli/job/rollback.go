package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/manifest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newRollbackCommand() *cobra.Command {
	var version int
	var note string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "rollback JOB --version N",
		Short: "Roll back a job to an earlier version",
		Long: "Save an earlier version of a job, with its script, as the newest one. This also restores a deleted\n" +
			"job. With --dry-run, show which fields would change.",
		Example: "  carillon get versions billing/report\n" +
			"  carillon rollback billing/report --version 3 --dry-run\n" +
			"  carillon rollback billing/report --version 3 --note \"the new script loses rows\"",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	cmd.Flags().IntVar(&version, "version", 0, "the `number` of the version")
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the audit log (default: the number of the version)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change without changing it")
	if err := cmd.MarkFlagRequired("version"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if note == "" {
			note = fmt.Sprintf("rolled back to version %d", version)
		}
		put, err := rollback(cmd.Context(), api, name, version, &client.PutJobParams{Note: &note, DryRun: &dryRun})
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), put, func(t *draw.Table) {
			manifest.DrawChanges(t, []manifest.Change{{Kind: "job", Name: string(name), Result: string(put.Result), Fields: put.Changes, Warnings: put.Warnings}}, dryRun)
		})
	}
	return cmd
}

// rollback saves a version again, unless somebody else has saved another meanwhile.
func rollback(ctx context.Context, api *client.API, name job.Name, version int, params *client.PutJobParams) (client.PutJobResult, error) {
	var none client.PutJobResult
	list, err := client.Read[client.VersionList](api.ListJobVersions(ctx, name.Group(), name.Short()))
	if err != nil {
		return none, err
	}
	found := -1
	for i, v := range list.Items {
		if v.Version == version && v.Format > job.VersionFormat {
			return none, fmt.Errorf("%w: version %d of job %s was saved by a newer server; roll back with a carillon of that version", job.ErrConflict, version, name)
		}
		if v.Version == version && !v.Deleted {
			found = i
		}
	}
	if found < 0 {
		return none, fmt.Errorf("%w: version %d of job %s; see: carillon get versions %s", job.ErrNotFound, version, name, name)
	}
	item, err := client.Read[client.JobItem](api.GetJob(ctx, name.Group(), name.Short(), nil))
	switch {
	case errors.Is(err, job.ErrNotFound):
		params.IfNoneMatch = new("*") // it is deleted
	case err != nil:
		return none, err
	default:
		params.IfMatch = new(strconv.Quote(strconv.FormatUint(item.Revision, 10)))
	}
	old := list.Items[found].Job
	old.Paused, old.PausedUntil = false, nil // the job stays paused, or active, as it is
	document, err := json.Marshal(old)
	if err != nil {
		return none, fmt.Errorf("encode job %s: %w", name, err)
	}
	return client.Read[client.PutJobResult](api.PutJobWithBody(ctx, name.Group(), name.Short(), params, "application/json", bytes.NewReader(document)))
}
