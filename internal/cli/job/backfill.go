package job

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// backfillOptions are the flags of backfill.
type backfillOptions struct {
	within         cli.Range
	day            string
	jobs           selection.Jobs
	tags           []string
	only, note, id string
	name           string
	atOnce         int
	again          bool
	list           bool
	cancel         string
	acts           map[string]*string // by flag, the backfill of many jobs to which it is done
}

func newBackfillCommand() *cobra.Command {
	o := backfillOptions{acts: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "backfill [JOB...]",
		Short: "Run past fires of jobs",
		Long: "Run past fires of one job or of many: missed or skipped ones, failed ones, or all. Each gets its own\n" +
			"run, with its original fire time and the current version of the job. They run one after the other, or\n" +
			"a few at once. They do not delay fires that are due now, and the overlap policy ignores them. Fires\n" +
			"that an earlier backfill has run successfully, or will still run, are left out. --only all also\n" +
			"includes fires from before the job existed.\n\n" +
			"A backfill of many jobs has a name, and can be paused, resumed, cancelled and retried. It lists the\n" +
			"jobs that do not take part, with the reason. \"carillon get backfills\" shows its progress.",
		Example: "  carillon backfill billing/report --since 7d --dry-run\n" +
			"  carillon backfill billing/report --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z --only failed --limit-at-once 4\n" +
			"  carillon backfill billing/report --list\n  carillon backfill billing/report --cancel hq3k7wz2ab\n" +
			"  carillon backfill --tag nightly --day yesterday --only all --limit-at-once 4\n" +
			"  carillon backfill --retry k2m9x4c7vd",
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	f := cmd.Flags()
	o.within.Add(f, "")
	f.StringVar(&o.day, "day", "", "fires of this `day`, instead of --since: yesterday, today or a date such as 2026-03-01")
	o.jobs.Flags(cmd)
	f.StringSliceVar(&o.tags, "tag", nil, "jobs with this `tag`; can be repeated")
	f.StringVar(&o.name, "name", "", "the `name` of a backfill of many jobs (default: from the selection and the range)")
	f.StringVar(&o.only, "only", string(outcome.OnlyMissed), "fires to run: missed, skipped, failed or all")
	f.IntVar(&o.atOnce, "limit-at-once", 1, "maximum number of concurrent runs of the backfill, of all its jobs together")
	f.BoolVar(&o.again, "again", false, "include fires that an earlier backfill has run successfully")
	f.StringVar(&o.note, "note", "", "the reason, for the audit log")
	f.StringVar(&o.id, "id", "", "the backfill's `id`; a second request with the same id changes nothing (default: a new one)")
	f.BoolVar(&o.list, "list", false, "list the job's backfills and their progress")
	f.StringVar(&o.cancel, "cancel", "", "cancel this `backfill`; runs that have started continue")
	for _, act := range []struct{ flag, usage string }{
		{"pause", "pause this `backfill` of many jobs; runs that have started continue"},
		{"resume", "resume this `backfill` of many jobs"},
		{"retry", "run the failed runs of this `backfill` of many jobs again"},
	} {
		o.acts[act.flag] = f.String(act.flag, "", act.usage)
	}
	cli.Complete(cmd, "only", cli.Words[string](outcome.Onlys)...)
	cmd.MarkFlagsMutuallyExclusive("list", "cancel", "pause", "resume", "retry", "from")
	cmd.MarkFlagsMutuallyExclusive("list", "cancel", "pause", "resume", "retry", "since")
	cmd.MarkFlagsMutuallyExclusive("list", "cancel", "pause", "resume", "retry", "day")
	cmd.MarkFlagsMutuallyExclusive("day", "since")
	cmd.MarkFlagsMutuallyExclusive("day", "from")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(r, cmd, args) }
	return cmd
}

// run does what the flags and the names of jobs say.
func (o *backfillOptions) run(r *cli.Remote, cmd *cobra.Command, args []string) error {
	names := make([]job.Name, len(args))
	for i, arg := range args {
		var err error
		if names[i], err = cli.JobName(arg); err != nil {
			return err
		}
	}
	for _, tag := range o.tags {
		o.jobs.Tag(tag)
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	if act, id := o.act(len(names)); act != nil {
		return changeBackfill(r, cmd, api, act, id, o.note)
	}
	if len(names) != 1 || o.jobs.Given() || o.name != "" {
		return o.many(r, cmd, api, names)
	}
	name := names[0]
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
	result, err := o.begin(cmd, api, name)
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), result, func(t *draw.Table) { drawBackfill(t, name, result, o.jobs.DryRun) })
}

// begin asks for the backfill, or for what it would be.
func (o *backfillOptions) begin(cmd *cobra.Command, api *client.API, name job.Name) (client.BackfillResult, error) {
	from, to, err := o.period(cmd)
	if err != nil {
		return client.BackfillResult{}, cli.Usage(err)
	}
	return client.Read[client.BackfillResult](api.BackfillJob(cmd.Context(), name.Group(), name.Short(), nil, client.BackfillRequest{
		From: from, To: to, Only: outcome.Only(o.only), AtOnce: o.atOnce, DryRun: o.jobs.DryRun, Again: o.again, Note: o.note, ID: o.id,
	}))
}

// period returns the range of the fires. A day is one of the reader's time zone, up to now.
func (o *backfillOptions) period(cmd *cobra.Command) (from, to time.Time, err error) {
	now := time.Now()
	if o.day == "" {
		if o.within.From == "" && o.within.Since == "" {
			return from, to, errors.New("set the time range with --day, --since or --from")
		}
		return o.within.Read(now)
	}
	zone := o.zone(cmd)
	today := now.In(zone)
	switch o.day {
	case "today":
		from = today
	case "yesterday":
		from = today.AddDate(0, 0, -1)
	default:
		if from, err = time.ParseInLocation(time.DateOnly, o.day, zone); err != nil {
			return from, to, fmt.Errorf("--day %q must be yesterday, today or a date such as 2026-03-01", o.day)
		}
	}
	from = time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, zone)
	if to = from.AddDate(0, 0, 1); to.After(now) {
		to = now
	}
	if !to.After(from) {
		return from, to, fmt.Errorf("--day %s is not in the past", o.day)
	}
	return from.UTC(), to.UTC().Truncate(time.Millisecond), nil
}

// zone returns the time zone of the reader.
func (o *backfillOptions) zone(cmd *cobra.Command) *time.Location {
	return cmp.Or(cli.ClockOf(cmd).Zone, time.UTC)
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
