package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newRerunCommand() *cobra.Command {
	var version, params string
	var set, labels []string
	var failed, wait, follow bool
	var c runChoice
	cmd := &cobra.Command{
		Use:   "rerun RUN... | --job JOB | --group GROUP ...",
		Short: "Do runs again that have ended",
		Long: "Do a run again that has ended, and print the new run's id. The new run has the fire time of the\n" +
			"other, and its parameters and labels, unless flags say otherwise. With --version same it does what the\n" +
			"job was when the other ran; latest is what the job is now. --failed does only those pieces of a run in\n" +
			"pieces again that have not succeeded. With --wait the exit code tells how the run ended, as of carillon run.\n\n" +
			"Several runs, or all that a filter selects, are done again after a question, with the parameters that they had. A\n" +
			"filter without --status is of those that have ended badly.",
		Example: "  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --version same --wait\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --param region=eu --param dry_run=true\n" +
			"  carillon rerun 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --failed --follow\n" +
			"  carillon rerun --job billing/report --since 6h --dry-run",
		Args: c.args,
	}
	r := newRemote(cmd)
	cmd.Flags().StringVar(&version, "version", string(client.RetryRequestVersionLatest), "of the job: latest, or the same as the run's")
	cmd.Flags().StringVar(&params, "params", "", "any `JSON` value, in the place of the run's parameters")
	cmd.Flags().StringArrayVar(&set, "param", nil, "a `field` of the parameters to change, KEY=VALUE; VALUE is JSON, or else text")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a `label` that the instance must have, KEY=VALUE; together they take the place of the run's")
	cmd.Flags().BoolVar(&failed, "failed", false, "only the pieces that have not succeeded")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the run")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print the run's log as it comes, and wait for its end")
	cmd.MarkFlagsMutuallyExclusive("params", "param")
	c.flags(cmd)
	complete(cmd, "version", string(client.RetryRequestVersionLatest), string(client.RetryRequestVersionSame))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || c.dryRun {
			for _, flag := range []string{"params", "param", "label", "wait", "follow"} {
				if cmd.Flags().Changed(flag) {
					return usage(errors.New("--" + flag + " goes together with one run"))
				}
			}
			b := client.RunBulk{Action: client.RunBulkActionRetry, Version: client.RetryRequestVersion(version), Key: string(job.NewRunID(time.Now()))}
			if failed {
				b.Pieces = client.RetryRequestPiecesFailed
			}
			return r.changeRuns(cmd, args, &c, b, func(item client.RunBulkItem) string {
				return "run " + string(item.RetryRunID) + " does " + string(item.RunID) + " again"
			})
		}
		id, err := runID(args[0])
		if err != nil {
			return err
		}
		request := client.RetryRequest{Version: client.RetryRequestVersion(version), Key: string(job.NewRunID(time.Now()))}
		if failed {
			request.Pieces = client.RetryRequestPiecesFailed
		}
		if params != "" {
			if !json.Valid([]byte(params)) {
				return usage(fmt.Errorf("--params %q must be JSON, such as '{\"month\": \"2026-02\"}' or '\"text\"'", params))
			}
			request.Params = json.RawMessage(params)
		}
		if request.SetParams, err = paramFields(set); err != nil {
			return usage(err)
		}
		if request.Labels, err = job.ParseLabels(labels); err != nil {
			return usage(err)
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		accepted, err := requestRerun(cmd.Context(), api, id, request)
		if err != nil {
			return err
		}
		return r.showAccepted(cmd, api, accepted, wait, follow)
	}
	return cmd
}

// requestRerun asks for the run again, again if the answer was lost or a part of the
// system was away for the moment: the key makes it one run at most.
func requestRerun(ctx context.Context, api *client.API, id job.RunID, request client.RetryRequest) (client.RunAccepted, error) {
	return untilAnswered(ctx, func() (client.RunAccepted, error) {
		return soon(ctx, id, func() (client.RunAccepted, error) {
			return client.Read[client.RunAccepted](api.RetryRun(ctx, string(id), nil, request))
		})
	})
}

// paramFields reads KEY=VALUE of each of the texts. A value is JSON if it can be, else
// text.
func paramFields(texts []string) (map[string]json.RawMessage, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, errors.New("--param " + text + " must be KEY=VALUE")
		}
		if json.Valid([]byte(value)) {
			fields[key] = json.RawMessage(value)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("--param %s: %w", text, err)
		}
		fields[key] = data
	}
	return fields, nil
}
