package job

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// backfillOptions are the flags of backfill.
type backfillOptions struct {
	within         cli.Range
	only, note, id string
	atOnce         int
	dryRun, again  bool
	list           bool
	cancel         string
}

func newBackfillCommand() *cobra.Command {
	var o backfillOptions
	cmd := &cobra.Command{
		Use:   "backfill JOB",
		Short: "Run past fires of a job",
		Long: "Run past fires of a job: missed or skipped ones, failed ones, or all. Each gets its own run, with\n" +
			"its original fire time and the current version of the job. They run one after the other, or a few\n" +
			"at once. They do not delay fires that are due now, and the overlap policy ignores them. Fires that\n" +
			"an earlier backfill has run successfully, or will still run, are left out. --only all also\n" +
			"includes fires from before the job existed.",
		Example: "  carillon backfill billing/report --since 7d --dry-run\n" +
			"  carillon backfill billing/report --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z --only failed --limit-at-once 4\n" +
			"  carillon backfill billing/report --list\n  carillon backfill billing/report --cancel hq3k7wz2ab",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	f := cmd.Flags()
	o.within.Add(f, "")
	f.StringVar(&o.only, "only", string(outcome.OnlyMissed), "fires to run: missed, skipped, failed or all")
	f.IntVar(&o.atOnce, "limit-at-once", 1, "maximum number of concurrent runs of the backfill")
	f.BoolVar(&o.dryRun, "dry-run", false, "show which fires would run without running them")
	f.BoolVar(&o.again, "again", false, "include fires that an earlier backfill has run successfully")
	f.StringVar(&o.note, "note", "", "the reason, for the audit log")
	f.StringVar(&o.id, "id", "", "the backfill's `id`; a second request with the same id changes nothing (default: a new one)")
	f.BoolVar(&o.list, "list", false, "list the job's backfills and their progress")
	f.StringVar(&o.cancel, "cancel", "", "cancel this `backfill`; runs that have started continue")
	cli.Complete(cmd, "only", cli.Words[string](outcome.Onlys)...)
	cmd.MarkFlagsMutuallyExclusive("list", "cancel", "from")
	cmd.MarkFlagsMutuallyExclusive("list", "cancel", "since")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		switch {
		case o.list:
			list, err := client.Read[client.BackfillList](api.ListBackfills(cmd.Context(), name.Group(), name.Short()))
			if err != nil {
				return err
			}
			return r.Show(cmd.OutOrStdout(), list, func(t *draw.Table) { drawBackfills(t, list.Items) })
		case o.cancel != "":
			state, err := client.Read[client.Backfill](api.CancelBackfill(cmd.Context(), name.Group(), name.Short(), o.cancel, nil, client.Note{Note: o.note}))
			if err != nil {
				return err
			}
			return r.Show(cmd.OutOrStdout(), state, func(t *draw.Table) { drawBackfills(t, []client.Backfill{state}) })
		}
		result, err := o.begin(cmd.Context(), api, name)
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), result, func(t *draw.Table) { drawBackfill(t, name, result, o.dryRun) })
	}
	return cmd
}

// begin asks for the backfill, or for what it would be.
func (o *backfillOptions) begin(ctx context.Context, api *client.API, name job.Name) (client.BackfillResult, error) {
	if o.within.From == "" && o.within.Since == "" {
		return client.BackfillResult{}, cli.Usage(errors.New("set the time range with --since or --from"))
	}
	from, to, err := o.within.Read(time.Now())
	if err != nil {
		return client.BackfillResult{}, cli.Usage(err)
	}
	return client.Read[client.BackfillResult](api.BackfillJob(ctx, name.Group(), name.Short(), nil, client.BackfillRequest{
		From: from, To: to, Only: outcome.Only(o.only), AtOnce: o.atOnce, DryRun: o.dryRun, Again: o.again, Note: o.note, ID: o.id,
	}))
}

func drawBackfill(t *draw.Table, name job.Name, r client.BackfillResult, dryRun bool) {
	if dryRun && len(r.Fires) > 0 {
		t.Row("FIRE TIME", "OUTCOME", "STATUS", "REASON")
		for i := range r.Fires {
			e := &r.Fires[i]
			t.Row(t.Millis(e.FireTime), string(e.Outcome), draw.OrDash(string(e.Status)), t.Cell(string(e.Reason), 2*draw.NoteWidth))
		}
		t.Line("")
	}
	if r.LeftOut > 0 {
		t.Line(draw.Count(r.LeftOut, "fire") + " left out: an earlier backfill has run them, or will.")
	}
	switch {
	case len(r.Fires) == 0:
		t.Line("No fires to run.")
	case dryRun:
		t.Line(draw.Count(len(r.Fires), "fire") + " would run.")
	default:
		t.Line(fmt.Sprintf("Backfill %s: %s, %d at once.", r.Backfill.ID, draw.Count(r.Backfill.Total, "fire"), r.Backfill.AtOnce))
		t.Line(fmt.Sprintf("See its progress with \"carillon backfill %s --list\".", name))
	}
}

func drawBackfills(t *draw.Table, list []client.Backfill) {
	if len(list) == 0 {
		t.Line("no backfills")
		return
	}
	t.Row("BACKFILL", "STATE", "BEGUN", "FIRES", "ALIVE", "AT ONCE", "FROM", "TO", "ASKED", "BY", "NOTE")
	for i := range list {
		b := &list[i]
		state := "working"
		switch {
		case b.Cancelled != "" && b.EndedAt.IsZero():
			state = "stopping"
		case b.Cancelled != "":
			state = "cancelled"
		case !b.EndedAt.IsZero():
			state = "done"
		case b.Begun == 0:
			state = "waiting"
		}
		note := b.Note
		if b.Cancelled != "" {
			note = b.Cancelled
		}
		t.Row(b.ID, state, strconv.Itoa(b.Begun), strconv.Itoa(b.Total), strconv.Itoa(b.Alive), strconv.Itoa(b.AtOnce),
			t.Instant(b.First), t.Instant(b.Last), t.Instant(b.AskedAt), draw.OrDash(b.By), t.Cell(note, draw.NoteWidth))
	}
}
