package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// runOptions are the flags of "carillon run".
type runOptions struct {
	params              string
	labels              []string
	instance            string
	wait, follow, chain bool
	early               FireAhead
	later               later
	key                 key
	jobs                selection.Jobs
}

func newRunCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run JOB... | --group GROUP | --query TEXT | --last STATUS",
		Short: "Run jobs now, or a job at a given time",
		Long: "Run a job now, regardless of its schedule, and print the id of the run. With --early, it runs an\n" +
			"upcoming fire now; that fire is then skipped at its time. With --at or --in, the run waits until\n" +
			"then; cancel it like any run, and list such runs with \"carillon get runs --waiting\". With --key,\n" +
			"repeated commands make one run, and print its id. With --wait, the exit code is the\n" +
			"outcome of the run: 0 succeeded, 10 failed, 11 timed out, 12 cancelled, 13 lost, 14 skipped or\n" +
			"missed. With --chain, it waits for the runs of the job's children too, and for theirs; the exit\n" +
			"code is that of the first one that did not succeed. Of a workflow, it prints the steps as they\n" +
			"change.\n\n" +
			"Several jobs, or all that a filter selects, are run after a confirmation, with their own\n" +
			"parameters and labels.",
		Example: "  carillon run ops/backup\n" +
			"  carillon run ops/backup --wait && echo saved\n" +
			"  carillon run ops/backup --early next\n" +
			"  carillon run ops/backup --label zone=eu\n" +
			"  carillon run mail/reminder --in 24h --expires 1h --params '{\"user\": 42}'\n" +
			"  carillon run billing/invoice --key 'order 42' --wait\n" +
			"  carillon run default/extract --chain\n" +
			"  carillon run billing/invoice --params '{\"month\": \"2026-02\"}' --follow\n" +
			"  carillon run billing/invoice billing/report\n" +
			"  carillon run --group billing --last failed --dry-run",
		Args: o.jobs.Args,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&o.params, "params", "", "override the parameters with this `JSON` value")
	cmd.Flags().StringArrayVar(&o.labels, "label", nil, "a `label` that the instance must have, KEY=VALUE; overrides all labels of the job")
	cmd.Flags().StringVar(&o.instance, "instance", "", "run on the instance with this `name`; overrides all labels of the job")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the run has finished")
	cmd.Flags().BoolVar(&o.chain, "chain", false, "wait until the runs of its children have finished, too, and theirs")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "stream the logs of the run until it has finished")
	cmd.Flags().StringVar(&o.params, "param", "", "the same as --params")
	if err := cmd.Flags().MarkHidden("param"); err != nil {
		panic("BUG: hide a flag that is not there: " + err.Error())
	}
	o.early.Flag(cmd, "early", "run the fire at this `time` (RFC 3339), or the next one, now")
	o.later.flags(cmd)
	o.key.flags(cmd)
	for _, other := range slices.Concat([]string{"params", "param", "label", "instance"}, laterFlags, keyFlags) {
		cmd.MarkFlagsMutuallyExclusive("early", other)
	}
	cmd.MarkFlagsMutuallyExclusive("instance", "label")
	o.jobs.Flags(cmd)
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || o.jobs.DryRun {
			for _, flag := range slices.Concat([]string{"params", "param", "label", "instance", "early", "wait", "follow", "chain"}, laterFlags, keyFlags) {
				if cmd.Flags().Changed(flag) {
					return cli.Usage(errors.New("--" + flag + " can be used with one job only"))
				}
			}
			return selection.ChangeJobs(r, cmd, args, &o.jobs, client.JobBulk{Action: client.JobBulkActionRun, RunID: job.NewRunID(time.Now())}, "begun")
		}
		return o.runOne(cmd, r, args[0])
	}
	return cmd
}

// runOne runs one job, as all flags ask for.
func (o *runOptions) runOne(cmd *cobra.Command, r *cli.Remote, arg string) error {
	name, err := cli.JobName(arg)
	if err != nil {
		return err
	}
	request, err := o.request()
	if err != nil {
		return err
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	ask := func() (client.RunAccepted, error) { return requestRun(cmd.Context(), api, name, request) }
	if o.early.text != "" {
		at, err := o.early.Of(cmd.Context(), api, name, false)
		if err != nil {
			return err
		}
		ask = func() (client.RunAccepted, error) { return runEarly(cmd.Context(), api, name, at) }
	}
	accepted, err := ask()
	if err != nil {
		return err
	}
	if o.chain {
		return awaitChain(r, cmd, api, accepted, o.follow)
	}
	return showAccepted(r, cmd, api, accepted, o.wait, o.follow)
}

// request returns the request for a run that is no fire of the schedule.
func (o *runOptions) request() (client.RunRequest, error) {
	request := client.RunRequest{Cause: job.CauseManual, RunID: job.NewRunID(time.Now())}
	if o.params != "" {
		if !json.Valid([]byte(o.params)) {
			return request, cli.Usage(fmt.Errorf("--params %q must be JSON, such as '{\"month\": \"2026-02\"}' or '\"text\"'", o.params))
		}
		request.Params = json.RawMessage(o.params)
	}
	var err error
	if request.Labels, err = job.ParseLabels(o.labels); err != nil {
		return request, cli.Usage(err)
	}
	if o.instance != "" {
		request.Labels = job.Labels{fleet.LabelInstance: o.instance}
	}
	if o.key.reset && o.key.text == "" {
		return request, cli.Usage(errors.New("--reset-key needs --key"))
	}
	request.Key, request.Reset = o.key.text, o.key.reset
	return request, o.later.set(&request)
}

// showAccepted shows the run that was asked for, or waits for its end.
func showAccepted(r *cli.Remote, cmd *cobra.Command, api *client.API, accepted client.RunAccepted, wait, follow bool) error {
	if wait || follow {
		return awaitRun(r, cmd, api, accepted, follow)
	}
	if accepted.Status != job.StatusPending {
		text := string(accepted.Status)
		if accepted.Reason != "" {
			text += ": " + string(accepted.Reason)
		}
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), text)
	}
	return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) { t.Line(string(accepted.RunID)) })
}

// requestRun asks for a run, again if the answer was lost or a part of the system was
// away for the moment.
func requestRun(ctx context.Context, api *client.API, name job.Name, request client.RunRequest) (client.RunAccepted, error) {
	return untilAnswered(ctx, func() (client.RunAccepted, error) {
		return client.Read[client.RunAccepted](api.RunJob(ctx, name.Group(), name.Short(), nil, request))
	})
}

// untilAnswered asks again while the answer is that a part of the system is away.
func untilAnswered(ctx context.Context, ask func() (client.RunAccepted, error)) (client.RunAccepted, error) {
	for try := 1; ; try++ {
		accepted, err := ask()
		_, told := errors.AsType[*client.Problem](err)
		if err == nil || try == selection.RunTries || !told || !errors.Is(err, job.ErrUnavailable) {
			return accepted, err
		}
		if err := pause.For(ctx, selection.RunRetry); err != nil {
			return accepted, err
		}
	}
}

// awaitRun waits for the end of a run, and shows it. The error has the exit code of that end.
func awaitRun(r *cli.Remote, cmd *cobra.Command, api *client.API, run client.RunAccepted, follow bool) error {
	status, err := showEnd(r, cmd, api, run, follow)
	if err != nil {
		return err
	}
	return cli.RunOutcome(status)
}

// showEnd waits for the end of a run, shows it, and returns its status. With -o json or yaml the log does
// not mix with it but goes to standard error.
func showEnd(r *cli.Remote, cmd *cobra.Command, api *client.API, run client.RunAccepted, follow bool) (job.Status, error) {
	p := linePrinter{w: cmd.OutOrStdout(), quiet: !follow}
	if r.Output.IsData() {
		p.w = cmd.ErrOrStderr()
	}
	steps, err := hasSteps(cmd.Context(), api, run.Job)
	if err != nil {
		return "", err
	}
	if steps {
		if err := followSteps(cmd.Context(), api, run.RunID, p.w, cli.ClockOf(cmd)); err != nil {
			return "", fmt.Errorf("wait for run %s: %w", run.RunID, err)
		}
	}
	end, err := api.Tail(cmd.Context(), run.RunID, client.TailOptions{
		Job:         run.Job,
		Interrupted: cli.OnInterruption(cmd.ErrOrStderr()),
	}, p.print)
	if err != nil {
		return "", fmt.Errorf("wait for run %s: %w", run.RunID, err)
	}
	if err := untilStored(cmd.Context(), api, end); err != nil {
		return "", err
	}
	if steps { // the tail of a run that no executor has knows no result
		if found, err := client.Read[client.RunDetail](api.GetRun(cmd.Context(), string(run.RunID))); err == nil {
			end.Run = found.Attempts[0]
		}
	}
	err = r.Show(cmd.OutOrStdout(), end.Run, func(t *draw.Table) { t.Line(ending(end.Run)) })
	return end.Run.Status, err
}

// hasSteps reports whether the job of a run is a workflow. One that is deleted is none.
func hasSteps(ctx context.Context, api *client.API, name job.Name) (bool, error) {
	if name == "" {
		return false, nil
	}
	item, err := client.Read[client.JobItem](api.GetJob(ctx, name.Group(), name.Short(), &client.GetJobParams{Fires: new(0), Runs: new(0)}))
	if errors.Is(err, job.ErrNotFound) {
		return false, nil
	}
	return len(item.Definition.Steps) > 0, err
}

// untilStored waits until the history has a run's end and its log, so that the next
// command finds them: the tail, which this command has followed, is ahead of the
// history. It does not wait for long, and ignores errors of the history.
func untilStored(ctx context.Context, api *client.API, end client.LogEnd) error {
	for deadline := time.Now().Add(cli.HistoryDelay); time.Now().Before(deadline); {
		if isStored(ctx, api, end) {
			return nil
		}
		if err := pause.For(ctx, cli.HistoryPause); err != nil {
			return err
		}
	}
	return nil
}

func isStored(ctx context.Context, api *client.API, end client.LogEnd) bool {
	id := string(end.Run.RunID)
	run, err := client.Read[client.RunDetail](api.GetRun(ctx, id))
	if err != nil || !run.Status.Final() {
		return false
	}
	lines := int64(run.Attempts[0].LogLines)
	if lines == 0 || end.Missing > 0 {
		return true
	}
	page, err := client.Read[client.LogPage](api.GetLogs(ctx, id, &client.GetLogsParams{Tail: new(true), Limit: new(1)}))
	return err == nil && len(page.Items) == 1 && page.Items[0].Seq >= lines
}

// ending tells how a run ended, in one line.
func ending(run client.Run) string {
	text := fmt.Sprintf("run %s %s", run.RunID, run.Status)
	if !run.StartedAt.IsZero() && !run.FinishedAt.IsZero() {
		text += " in " + draw.Took(run.StartedAt, run.FinishedAt)
	}
	if why := run.Message + run.Reason; why != "" {
		text += ": " + draw.Text(string(why), 200)
	}
	return text
}
