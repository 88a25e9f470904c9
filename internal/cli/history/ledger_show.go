package history

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
)

func newLedgerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Check that every fire is accounted for",
		Long: "The ledger computes from the versions of each job which fires were due, and compares them with the\n" +
			"history. Each fire has an outcome: it ran, was caught up, skipped or missed, or is pending. Anything\n" +
			"else is a discrepancy.",
		Example: "  carillon ledger verify --since 7d\n  carillon ledger show ops/backup --since 7d",
	}
	cmd.AddCommand(newLedgerShowCommand(), newLedgerVerifyCommand())
	return cmd
}

func newLedgerShowCommand() *cobra.Command {
	var within cli.Range
	var outcomes []string
	var limit int
	var steps bool
	cmd := &cobra.Command{
		Use:   "show JOB",
		Short: "Show every fire of a job and its outcome",
		Long: "Show every fire of a job, newest first, and its outcome. The fires are computed from the versions\n" +
			"of the job and compared with the history. A mismatch is a discrepancy. With --steps, each step of a\n" +
			"workflow's run is compared with the graph and with the ends of the steps before it, also in runs that\n" +
			"no schedule asked for. Runs that pings report show the host.",
		Example: "  carillon ledger show ops/backup --since 7d\n  carillon ledger show billing/nightly --steps\n" +
			"  carillon ledger show ops/backup --outcome skipped,missed,discrepancy\n" +
			"  carillon ledger show ops/backup --from 2026-03-01T00:00:00Z --to 2026-04-01T00:00:00Z --limit 0 -o json",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	within.Add(cmd.Flags(), "24h")
	cmd.Flags().StringSliceVar(&outcomes, "outcome", nil, "only fires with this `outcome`; can be repeated")
	cmd.Flags().BoolVar(&steps, "steps", false, "also show the steps of each run of a workflow")
	cmd.Flags().IntVar(&limit, "limit", 200, "maximum number of fires to show; 0 shows all")
	cli.Complete(cmd, "outcome", cli.Words[string](outcome.Outcomes)...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		if limit < 0 {
			return cli.Usage(errors.New("--limit must not be negative"))
		}
		from, to, err := within.Read(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		page, err := api.Ledger(cmd.Context(), name, client.GetJobLedgerParams{
			From: &from, To: &to, Outcome: client.OptionalList(cli.Words[outcome.Outcome](outcomes)), Steps: client.Optional(steps),
		}, limit)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), page, func(t *draw.Table) { drawLedger(t, page) })
	}
	return cmd
}

func drawLedger(t *draw.Table, page client.LedgerPage) {
	if len(page.Items) > 0 {
		t.Row("FIRE TIME", "OUTCOME", "STATUS", "FIRED LATE", "TOOK", "VERSION", "RUN", "REASON")
	}
	for i := range page.Items {
		e := &page.Items[i]
		t.Row(t.Millis(e.FireTime), outcomeOf(e), draw.OrDash(string(e.Status)), late(e), draw.Took(e.StartedAt, e.FinishedAt),
			draw.OrDash(countOrNone(e.Version)), string(e.RunID), t.Cell(noteOf(e), 2*draw.NoteWidth))
		for k := range e.Steps {
			s := &e.Steps[k]
			t.Row("  "+s.Step, string(s.Outcome), draw.OrDash(string(s.Status)), "", draw.Took(s.StartedAt, s.FinishedAt), "",
				string(s.RunID), t.Cell(string(s.Reason), 2*draw.NoteWidth))
		}
	}
	if len(page.Items) > 0 {
		t.Line("")
	}
	t.Line(saidOf(page.Counts))
	if page.Next != "" {
		t.Line("There are older ones; show all with --limit 0.")
	}
	t.Line("Decided up to " + t.Millis(page.DecidedUntil) + ".")
	if since := page.VersionsSince; !page.HistorySince.IsZero() {
		if since.Before(page.HistorySince) {
			since = page.HistorySince
		}
		t.Line("Fires since " + t.Millis(since) + " can be verified.")
	}
}

// noteOf writes why a fire has its outcome, and from which host its run was reported.
func noteOf(e *outcome.Entry) string {
	if e.Host == "" {
		return string(e.Reason)
	}
	return reason.Join("from "+e.Host, string(e.Reason))
}

// outcomeOf writes what became of a fire, or of a run that no schedule asked for, with its cause.
func outcomeOf(e *outcome.Entry) string {
	if e.Cause != "" {
		return string(e.Outcome) + " (" + string(e.Cause) + ")"
	}
	return string(e.Outcome)
}

// late writes how late a fire was decided.
func late(e *outcome.Entry) string {
	if e.DecidedAt.IsZero() {
		return "-"
	}
	return draw.Took(e.DecidedAt.Add(-e.Late.Std()), e.DecidedAt)
}

// countOrNone writes a number, and nothing for 0.
func countOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// saidOf tells a tally in a sentence.
func saidOf(c outcome.Tally) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.Ran, "ran"},
		{c.CaughtUp, "caught up"},
		{c.Reported, "reported"},
		{c.Pending, "pending"},
		{c.Skipped, "skipped"},
		{c.Missed, "missed"},
		{c.Undecided, "undecided"},
		{c.Unjudged, "unjudged"},
	} {
		if p.n > 0 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.what)
		}
	}
	said := draw.Count(c.Fires, "fire")
	if len(parts) > 0 {
		said += ": " + strings.Join(parts, ", ")
	}
	if c.Failed > 0 {
		said += fmt.Sprintf(" (%d unsuccessful)", c.Failed)
	}
	switch c.Discrepancies {
	case 0:
		return said + ". No discrepancy."
	case 1:
		return said + ". 1 DISCREPANCY."
	default:
		return said + fmt.Sprintf(". %d DISCREPANCIES.", c.Discrepancies)
	}
}
