package run

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newRerunCommand() *cobra.Command {
	var version string
	var labels, from []string
	var given givenParams
	var failed, wait, follow bool
	var c selection.Runs
	cmd := &cobra.Command{
		Use:   "rerun RUN... | --job JOB | --group GROUP ...",
		Short: "Rerun finished runs",
		Long: "Rerun a finished run and print the id of the new run. The new run has the fire time, parameters\n" +
			"and labels of the old one, unless flags override them. --version latest uses the present version\n" +
			"of the job; --version same uses the version of the old run. --failed reruns only the pieces\n" +
			"or steps that did not succeed, --from-step a step of a workflow and those that follow it.\n" +
			"--dry-run of a workflow shows which steps would run. With --wait, the exit code is the outcome\n" +
			"of the run, as in \"carillon run\".\n\n" +
			"Several runs, or all that a filter selects, are rerun after a confirmation, with their own\n" +
			"parameters. Without --status, a filter selects unsuccessful runs only.",
		Example: "  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --version same --wait\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --param region=eu --param dry_run=true\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --failed --follow\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --from-step load --dry-run\n" +
			"  carillon rerun --job billing/report --since 6h --dry-run",
		Args: c.Args,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&version, "version", string(client.RerunRequestVersionLatest), "`version` of the job: latest, or same as the old run")
	given.flags(cmd)
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a `label` that the instance must have, KEY=VALUE; overrides all labels of the run")
	cmd.Flags().BoolVar(&failed, "failed", false, "rerun only pieces or steps that did not succeed")
	cmd.Flags().StringSliceVar(&from, "from-step", nil, "rerun this `step` of a workflow, and those that follow it; can be repeated")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the run has finished")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stream the logs of the run until it has finished")
	cmd.MarkFlagsMutuallyExclusive("failed", "from-step")
	c.Flags(cmd)
	cli.Complete(cmd, "version", string(client.RerunRequestVersionLatest), string(client.RerunRequestVersionSame))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		many := func() error {
			for _, flag := range []string{"params", "param", "label", "from-step", "wait", "follow"} {
				if cmd.Flags().Changed(flag) {
					return cli.Usage(errors.New("--" + flag + " can be used with one run only"))
				}
			}
			b := client.RunBulk{Action: client.RunBulkActionRerun, Version: client.RerunRequestVersion(version), Key: string(job.NewRunID(time.Now()))}
			if failed {
				b.Pieces = client.RerunRequestPiecesFailed
			}
			return selection.ChangeRuns(r, cmd, args, &c, b, func(item client.RunBulkItem) string {
				return "run " + string(item.RerunRunID) + " is a rerun of " + string(item.RunID)
			})
		}
		if len(args) != 1 {
			return many()
		}
		id, err := cli.RunID(args[0])
		if err != nil {
			return err
		}
		request := client.RerunRequest{Version: client.RerunRequestVersion(version), Key: string(job.NewRunID(time.Now())), From: from, DryRun: c.DryRun}
		if cmd.Flags().Changed("from-step") && len(from) == 0 { // such as --from-step "$STEP": it would repeat all of them
			return cli.Usage(errors.New("--from-step names no step"))
		}
		if failed {
			request.Pieces = client.RerunRequestPiecesFailed
		}
		if request.Params, request.SetParams, err = given.read(); err != nil {
			return cli.Usage(err)
		}
		if request.Labels, err = job.ParseLabels(labels); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		accepted, err := requestRerun(cmd.Context(), api, id, request)
		switch {
		case c.DryRun && len(from) == 0 && errors.Is(err, job.ErrInvalid): // it is of no workflow
			return many()
		case err != nil:
			return err
		case c.DryRun:
			return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) { drawRerunSteps(t, accepted.Steps) })
		}
		return showAccepted(r, cmd, api, accepted, wait, follow)
	}
	return cmd
}

// drawRerunSteps draws what a rerun would do with each step of a workflow.
func drawRerunSteps(t *draw.Table, steps []client.RerunStep) {
	t.Row("STEP", "ACTION", "WHY")
	for _, s := range steps {
		t.Row(s.Step, string(s.Action), t.Cell(string(s.Reason), draw.NoteWidth))
	}
}

// requestRerun asks for the run again, again if the answer was lost or a part of the
// system was away for the moment: the key makes it one run at most.
func requestRerun(ctx context.Context, api *client.API, id job.RunID, request client.RerunRequest) (client.RunAccepted, error) {
	return untilAnswered(ctx, func() (client.RunAccepted, error) {
		return cli.AwaitHistory(ctx, id, func() (client.RunAccepted, error) {
			return client.Read[client.RunAccepted](api.RerunRun(ctx, string(id), nil, request))
		})
	})
}
