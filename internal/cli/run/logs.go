package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// maxTail is the most lines that --tail shows; the API gives no more at once.
const maxTail = 10_000

// logOptions are the flags of logs.
type logOptions struct {
	follow, times bool
	attempt, tail int
	index         int // of a piece; -1 is the run as a whole
	step          string
}

// piece returns the broadcast index as the API takes it.
func (o *logOptions) piece() *int {
	if o.index < 0 {
		return nil
	}
	return &o.index
}

func newLogsCommand() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "logs RUN|JOB",
		Short: "Show a run's logs",
		Long: "Show the logs of a run, or of the newest run of a job. With --follow, continue until the run has\n" +
			"finished; the command reconnects without losing or repeating lines. With -o json, each line is a\n" +
			"JSON object. On a terminal, control characters other than colors are shown as \"·\". In a file or a\n" +
			"pipe, the output is exactly what the run printed.",
		Example: "  carillon logs ops/backup\n" +
			"  carillon logs ops/backup -f --tail 20\n" +
			"  carillon logs 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --attempt 1 -o json\n" +
			"  carillon logs ops/rotate --index 3\n" +
			"  carillon logs billing/close --step load -f",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "stream logs until the run has finished")
	cmd.Flags().BoolVarP(&o.times, "timestamps", "t", false, "show the time of each line")
	cmd.Flags().IntVar(&o.attempt, "attempt", 0, "logs of this `attempt`, from 1 (default: the newest)")
	cmd.Flags().IntVar(&o.index, "index", -1, "logs of the piece with this `index`, from 0 (default: the whole run)")
	cmd.Flags().StringVar(&o.step, "step", "", "logs of the `step` with this name, of a workflow")
	cmd.Flags().IntVar(&o.tail, "tail", 0, "only the last `N` lines (default all)")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.attempt < 0 || o.tail < 0 || o.tail > maxTail {
			return cli.Usage(fmt.Errorf("--attempt must not be negative, and --tail be between 1 and %d", maxTail))
		}
		if r.Output == cli.AsYAML {
			return cli.Usage(errors.New("-o yaml is not supported for logs; use -o json"))
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		id, err := runOf(cmd.Context(), api, args[0])
		if err != nil {
			return err
		}
		if o.step != "" {
			if id, err = runOfStep(cmd.Context(), api, id, o.step, o.follow); err != nil {
				return err
			}
		}
		p := linePrinter{w: cmd.OutOrStdout(), clock: r.Clock(), times: o.times, json: r.Output == cli.AsJSON}
		if err := printLog(cmd.Context(), api, id, o, p, cmd.ErrOrStderr()); err != nil {
			return err
		}
		return hint(cmd.Context(), api, id, o, cmd.ErrOrStderr())
	}
	return cmd
}

// executed are the statuses of runs that may have printed something.
var executed = []job.Status{
	job.StatusPending, job.StatusRunning, job.StatusSucceeded, job.StatusFailed,
	job.StatusTimedOut, job.StatusCancelled, job.StatusLost,
}

// runOf returns the run that an argument names: by its id, or as a job's newest.
func runOf(ctx context.Context, api *client.API, arg string) (job.RunID, error) {
	if !strings.Contains(arg, "/") {
		return cli.RunID(arg)
	}
	name, err := cli.JobName(arg)
	if err != nil {
		return "", err
	}
	page, err := api.Runs(ctx, client.ListRunsParams{Job: &[]string{string(name)}, Status: &executed}, 1)
	if err != nil {
		return "", err
	}
	if len(page.Items) > 0 {
		return page.Items[0].RunID, nil
	}
	if page, err = api.Runs(ctx, client.ListRunsParams{Job: &[]string{string(name)}}, 1); err != nil {
		return "", err
	}
	if len(page.Items) == 0 {
		return "", fmt.Errorf("%w: job %s has not run yet", job.ErrNotFound, name)
	}
	return "", fmt.Errorf("%w: job %s has not run yet, so there is no log; %s", job.ErrNotFound, name, ending(page.Items[0]))
}

// printLog prints a run's log, and if asked to goes on until its end.
func printLog(ctx context.Context, api *client.API, id job.RunID, o logOptions, p linePrinter, errOut io.Writer) error {
	from := client.TailOptions{Attempt: o.attempt, Index: o.piece(), Interrupted: cli.OnInterruption(errOut)}
	if !o.follow || o.tail > 0 {
		attempt, last, err := printStored(ctx, api, id, o, p)
		if err != nil || !o.follow {
			return err
		}
		from.AfterAttempt, from.After = attempt, last
	}
	end, err := cli.AwaitHistory(ctx, id, func() (client.LogEnd, error) { return api.Tail(ctx, id, from, p.print) })
	if err != nil {
		return err
	}
	if end.Missing > 0 {
		_, _ = fmt.Fprintf(errOut, "%d lines are missing\n", end.Missing)
	}
	_, err = fmt.Fprintln(errOut, ending(end.Run))
	return err
}

// hint says why there are no lines: a run that is done in pieces has a log for each of them, and one that
// was skipped or missed has none.
func hint(ctx context.Context, api *client.API, id job.RunID, o logOptions, w io.Writer) error {
	if o.index >= 0 {
		return nil
	}
	run, err := client.Read[client.RunDetail](api.GetRun(ctx, string(id)))
	if err != nil {
		return err
	}
	if newest := run.Attempts[0]; newest.Status == job.StatusSkipped || newest.Status == job.StatusMissed {
		_, err = fmt.Fprintln(w, ending(newest))
		return err
	}
	if run.Steps > 0 {
		_, err = fmt.Fprintf(w, "the run has %s with separate logs; choose one with --step (carillon get steps %s)\n", draw.Count(run.Steps, "step"), id)
		return err
	}
	if run.Attempts[0].Total == 0 {
		return nil
	}
	_, err = fmt.Fprintf(w, "the run has %d pieces with separate logs; choose one with --index 0 to %d\n", run.Attempts[0].Total, run.Attempts[0].Total-1)
	return err
}

// printStored prints what there is of a log now. It returns the attempt, and the
// number of its last line.
func printStored(ctx context.Context, api *client.API, id job.RunID, o logOptions, p linePrinter) (attempt int, last int64, err error) {
	params := client.GetLogsParams{Attempt: client.Optional(o.attempt), BroadcastIndex: o.piece(), Limit: new(maxTail)}
	if o.tail > 0 {
		params.Tail, params.Limit = new(true), &o.tail
	}
	for {
		page, err := cli.AwaitHistory(ctx, id, func() (client.LogPage, error) {
			return client.Read[client.LogPage](api.GetLogs(ctx, string(id), &params))
		})
		if err != nil {
			return 0, 0, err
		}
		if err := p.print(page.Items); err != nil {
			return 0, 0, err
		}
		if n := len(page.Items); n > 0 {
			last = page.Items[n-1].Seq
		}
		if page.NextSeq == 0 || o.tail > 0 {
			return page.Attempt, last, nil
		}
		params.Attempt, params.FromSeq = &page.Attempt, &page.NextSeq
	}
}

// linePrinter prints lines of a log.
type linePrinter struct {
	w           io.Writer
	clock       draw.Clock
	times, json bool
	quiet       bool // print nothing
}

func (p linePrinter) print(lines []client.LogLine) error {
	if p.quiet {
		return nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if p.json {
			if err := enc.Encode(l); err != nil {
				return fmt.Errorf("encode a line: %w", err)
			}
			continue
		}
		if p.times {
			b.WriteString(p.clock.Format(l.At, "2006-01-02T15:04:05.000Z07:00 "))
		}
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}
