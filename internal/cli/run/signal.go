package run

import (
	"context"
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

func newSignalCommand() *cobra.Command {
	var of, key, data string
	cmd := &cobra.Command{
		Use:   "signal {RUN | --job JOB} SIGNAL",
		Short: "Send a signal to a workflow that waits for it",
		Long: "Send a signal to a running workflow. The step that waits for it succeeds, with the data as its\n" +
			"result. A signal that comes before the step begins to wait is kept until then. With --job, the\n" +
			"oldest run of the job gets it that waits for this signal with this key.",
		Example: "  carillon signal 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d paid --data '{\"sum\": 3}'\n" +
			"  carillon signal --job deploy/release --key 17 paid",
		Args: cobra.RangeArgs(1, 2),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&of, "job", "", "the `JOB` whose run gets the signal, instead of a run")
	cmd.Flags().StringVar(&key, "key", "", "the `key` that the step waits for, such as the number of an order")
	cmd.Flags().StringVar(&data, "data", "", "what the step returns, as `JSON`")
	_ = cmd.RegisterFlagCompletionFunc("job", r.JobNames)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if data != "" && !json.Valid([]byte(data)) {
			return cli.Usage(fmt.Errorf("--data %q must be JSON, such as '{\"sum\": 3}' or '\"text\"'", data))
		}
		if (of == "") != (len(args) == 2) {
			return cli.Usage(errors.New("give either a run and a signal, or --job and a signal"))
		}
		request := client.SignalRequest{Key: key, Data: json.RawMessage(data), ID: string(job.NewRunID(time.Now()))}
		send, err := signalTo(of, args, request)
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		accepted, err := send(cmd.Context(), api)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) {
			if accepted.Status == job.StatusQueued {
				t.Line(fmt.Sprintf("signal kept until step %s of run %s waits for it", accepted.Step, accepted.RunID))
				return
			}
			t.Line(fmt.Sprintf("step %s of run %s %s", accepted.Step, accepted.RunID, accepted.Status))
		})
	}
	return cmd
}

// signalTo returns what sends a signal to a run, or to the run of a job.
func signalTo(of string, args []string, request client.SignalRequest) (func(context.Context, *client.API) (client.SignalAccepted, error), error) {
	if of != "" {
		name, err := cli.JobName(of)
		return func(ctx context.Context, api *client.API) (client.SignalAccepted, error) {
			return client.Read[client.SignalAccepted](api.SignalJob(ctx, name.Group(), name.Short(), args[0], nil, request))
		}, err
	}
	id, err := cli.RunID(args[0])
	return func(ctx context.Context, api *client.API) (client.SignalAccepted, error) {
		return client.Read[client.SignalAccepted](api.SignalRun(ctx, string(id), args[1], nil, request))
	}, err
}
