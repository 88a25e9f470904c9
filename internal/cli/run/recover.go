package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newRetryCommand() *cobra.Command {
	var note string
	var given givenParams
	cmd := &cobra.Command{
		Use:   "retry RUN STEP",
		Short: "Retry a failed step of a workflow that is running",
		Long: "Retry a step that failed or was cancelled while its workflow is running, and the steps that\n" +
			"follow it. It fails while one of those is running. Rerun a workflow that has finished with\n" +
			"\"carillon rerun RUN --failed\".",
		Example: "  carillon retry 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d load --note \"disk freed\"\n" +
			"  carillon retry 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d load --param batch=100",
		Args: cobra.ExactArgs(2),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&note, "note", "", "a `note` for the history and the audit log")
	given.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		params, set, err := given.read()
		if err != nil {
			return cli.Usage(err)
		}
		request := client.RetryStepRequest{Params: params, SetParams: set, Note: note, Key: string(job.NewRunID(time.Now()))}
		return recoverStep(r, cmd, args, func(api *client.API, id, step string) (client.StepAccepted, error) {
			return client.Read[client.StepAccepted](api.RetryStep(cmd.Context(), id, step, nil, request))
		})
	}
	return cmd
}

func newResolveCommand() *cobra.Command {
	var as, result, note string
	cmd := &cobra.Command{
		Use:   "resolve RUN STEP --as succeeded|skipped",
		Short: "Resolve a failed step of a running workflow by hand",
		Long: "Make a step that failed or was cancelled count as succeeded or skipped, while its workflow is\n" +
			"running. The steps that follow it are decided again.",
		Example: "  carillon resolve 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d load --as succeeded --result '{\"rows\": 7}'\n" +
			"  carillon resolve 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d load --as skipped --note \"not needed today\"",
		Args: cobra.ExactArgs(2),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&as, "as", "", "succeeded or skipped")
	cmd.Flags().StringVar(&result, "result", "", "what the step returns, as `JSON`")
	cmd.Flags().StringVar(&note, "note", "", "a `note` for the history and the audit log")
	cli.Complete(cmd, "as", string(job.StatusSucceeded), string(job.StatusSkipped))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if as == "" {
			return cli.Usage(errors.New("--as must be succeeded or skipped"))
		}
		if result != "" && !json.Valid([]byte(result)) {
			return cli.Usage(fmt.Errorf("--result %q must be JSON, such as '{\"rows\": 7}' or '\"text\"'", result))
		}
		request := client.ResolveStepRequest{
			As: client.ResolveStepRequestAs(as), Result: json.RawMessage(result), Note: note, Key: string(job.NewRunID(time.Now())),
		}
		return recoverStep(r, cmd, args, func(api *client.API, id, step string) (client.StepAccepted, error) {
			return client.Read[client.StepAccepted](api.ResolveStep(cmd.Context(), id, step, nil, request))
		})
	}
	return cmd
}

// recoverStep asks to retry or resolve a step, and shows what becomes of it.
func recoverStep(r *cli.Remote, cmd *cobra.Command, args []string, ask func(api *client.API, id, step string) (client.StepAccepted, error)) error {
	id, err := cli.RunID(args[0])
	if err != nil {
		return err
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	accepted, err := ask(api, string(id), args[1])
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) {
		t.Line(fmt.Sprintf("step %s is %s, as run %s", accepted.Step, accepted.Status, accepted.RunID))
	})
}
