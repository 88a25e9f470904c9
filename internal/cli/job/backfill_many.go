package job

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// many plans a backfill of many jobs, and starts it unless that is not wanted.
func (o *backfillOptions) many(r *cli.Remote, cmd *cobra.Command, api *client.API, names []job.Name) error {
	if err := o.jobs.Args(cmd, cli.Words[string](names)); err != nil {
		return cli.Usage(err)
	}
	from, to, err := o.period(cmd)
	if err != nil {
		return cli.Usage(err)
	}
	b := client.BulkBackfillRequest{
		Name: o.name, ID: o.id, Jobs: names, From: from, To: to, Only: outcome.Only(o.only), AtOnce: o.atOnce, Again: o.again, Note: o.note,
	}
	if len(names) == 0 {
		b.Filter = o.jobs.Filter()
	}
	if b.Name == "" {
		b.Name = cmp.Or(strings.Join(o.tags, ", "), "jobs") + " " + from.In(o.zone(cmd)).Format("2006-01-02 15:04")
	}
	ask := func(dryRun bool) (client.BulkBackfillResult, error) {
		return client.Read[client.BulkBackfillResult](api.CreateBulkBackfill(cmd.Context(), &client.CreateBulkBackfillParams{DryRun: &dryRun}, b))
	}
	if len(names) == 0 || o.jobs.DryRun {
		plan, err := ask(true)
		if err != nil {
			return err
		}
		jobs := 0
		for i := range plan.Items {
			if plan.Items[i].Fires > 0 {
				jobs++
			}
		}
		if goOn, err := o.jobs.Settle(cmd, "Run "+draw.Count(plan.Fires, "fire")+" of", "job", jobs); err != nil || !goOn {
			showErr := r.Show(cmd.OutOrStdout(), plan, func(t *draw.Table) { drawBulkPlan(t, &plan) })
			return cmp.Or(err, showErr)
		}
	}
	result, err := ask(false)
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), result, func(t *draw.Table) { drawBulkPlan(t, &result) })
}

// bulkAct changes a backfill of many jobs.
type bulkAct func(ctx context.Context, api *client.API, id string, note client.BulkBackfillNote) (*http.Response, error)

// act returns the change of a backfill of many jobs that the flags ask for, and its id; nil if they ask for none. Beside
// the name of a job, --cancel is about a backfill of that job alone.
func (o *backfillOptions) act(named int) (bulkAct, string) {
	switch {
	case *o.acts["pause"] != "":
		return func(ctx context.Context, api *client.API, id string, note client.BulkBackfillNote) (*http.Response, error) {
			return api.PauseBulkBackfill(ctx, id, nil, note)
		}, *o.acts["pause"]
	case *o.acts["resume"] != "":
		return func(ctx context.Context, api *client.API, id string, note client.BulkBackfillNote) (*http.Response, error) {
			return api.ResumeBulkBackfill(ctx, id, nil, note)
		}, *o.acts["resume"]
	case *o.acts["retry"] != "":
		return func(ctx context.Context, api *client.API, id string, note client.BulkBackfillNote) (*http.Response, error) {
			return api.RetryBulkBackfill(ctx, id, nil, note)
		}, *o.acts["retry"]
	case o.cancel != "" && named == 0:
		return func(ctx context.Context, api *client.API, id string, note client.BulkBackfillNote) (*http.Response, error) {
			return api.CancelBulkBackfill(ctx, id, nil, note)
		}, o.cancel
	}
	return nil, ""
}

func changeBackfill(r *cli.Remote, cmd *cobra.Command, api *client.API, act bulkAct, id, note string) error {
	b, err := client.Read[client.BulkBackfill](act(cmd.Context(), api, id, client.BulkBackfillNote{Note: note}))
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), b, func(t *draw.Table) { drawBulkBackfill(t, b) })
}

func newGetBackfillsCommand() *cobra.Command {
	return cli.List[client.BulkBackfillList]{
		Use:   "backfills",
		Short: "List backfills of many jobs, or show one with its jobs",
		Long: "List backfills of many jobs, newest first; or show one, with the progress of each job and who did\n" +
			"what to it. \"carillon backfill JOB --list\" lists backfills of one job.",
		Example: "  carillon get backfills\n  carillon get backfills k2m9x4c7vd",
		Fetch: func(ctx context.Context, api *client.API) (client.BulkBackfillList, error) {
			return client.Read[client.BulkBackfillList](api.ListBulkBackfills(ctx))
		},
		Columns: drawBulkBackfills,
		One: cli.Named("BACKFILL", func(ctx context.Context, api *client.API, id string) (client.BulkBackfill, error) {
			return client.Read[client.BulkBackfill](api.GetBulkBackfill(ctx, id))
		}, drawBulkBackfill),
	}.Command()
}

func drawBulkPlan(t *draw.Table, r *client.BulkBackfillResult) {
	if len(r.Items) > 0 {
		t.Row("JOB", "FIRES", "LEFT OUT", "NOT SELECTED", "WHY NOT")
	}
	jobs := 0
	for i := range r.Items {
		p := &r.Items[i]
		why := ""
		if p.Problem != nil {
			why = p.Problem.Detail
		} else {
			jobs++
		}
		t.Row(string(p.Job), strconv.Itoa(p.Fires), strconv.Itoa(p.LeftOut), t.Cell(othersText(p.Others), draw.NoteWidth), draw.OrDash(t.Cell(why, draw.NoteWidth)))
	}
	t.Line("")
	switch {
	case r.Backfill == nil && r.Fires == 0:
		t.Line("No fires to run.")
	case r.Backfill == nil:
		t.Line(draw.Count(r.Fires, "fire") + " of " + draw.Count(jobs, "job") + " would run.")
	default:
		t.Line(fmt.Sprintf("Backfill %s: %s, %d at once.", r.Backfill.ID, draw.Count(len(r.Backfill.Jobs), "job"), r.Backfill.AtOnce))
		t.Line(fmt.Sprintf("See its progress with \"carillon get backfills %s\".", r.Backfill.ID))
	}
}

// othersText returns what became of fires that are not selected, such as "22 ran, 2 skipped".
func othersText(others []client.OtherFires) string {
	var parts []string
	for _, o := range others {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", o.Fires, o.Outcome)))
	}
	return draw.OrDash(strings.Join(parts, ", "))
}

func drawBulkBackfills(t *draw.Table, list client.BulkBackfillList) {
	if len(list.Items) == 0 {
		t.Line("no backfills of many jobs")
		return
	}
	t.Row("BACKFILL", "NAME", "STATE", "JOBS", "FIRES", "SUCCEEDED", "FAILED", "FROM", "TO", "CREATED", "BY")
	for i := range list.Items {
		b := &list.Items[i]
		t.Row(b.ID, t.Cell(b.Name, draw.NoteWidth), bulkState(b.Paused, b.Cancelled, !b.EndedAt.IsZero()), fmt.Sprintf("%d/%d", b.Over, b.Jobs),
			strconv.Itoa(b.Fires), strconv.Itoa(b.Succeeded), strconv.Itoa(b.Failed), t.Instant(b.From), t.Instant(b.To), t.Instant(b.CreatedAt), draw.OrDash(b.By))
	}
}

// bulkState returns how a backfill of many jobs stands, in the words of those of one job.
func bulkState(paused, cancelled, ended bool) string {
	switch {
	case cancelled && !ended:
		return "stopping"
	case cancelled:
		return "cancelled"
	case ended:
		return "done"
	case paused:
		return "paused"
	}
	return "working"
}

func drawBulkBackfill(t *draw.Table, b client.BulkBackfill) {
	t.Line(fmt.Sprintf("%s: %s, %s, fires of %s to %s, %d at once", b.ID, t.Cell(b.Name, draw.NoteWidth),
		bulkState(b.Paused, b.Cancelled, !b.EndedAt.IsZero()), t.Instant(b.From), t.Instant(b.To), b.AtOnce))
	t.Line("")
	t.Row("JOB", "STATE", "BEGUN", "FIRES", "ALIVE", "SUCCEEDED", "FAILED", "WHY")
	for i := range b.Jobs {
		p := &b.Jobs[i]
		t.Row(string(p.Job), string(p.State), strconv.Itoa(p.Begun), strconv.Itoa(p.Fires), strconv.Itoa(p.Alive), strconv.Itoa(p.Succeeded), strconv.Itoa(p.Failed),
			draw.OrDash(t.Cell(string(p.Why), draw.NoteWidth)))
	}
	t.Line("")
	t.Row("AT", "WHAT", "BY", "NOTE")
	for _, e := range b.Events {
		t.Row(t.Instant(e.At), string(e.Act), draw.OrDash(e.By), t.Cell(e.Note, draw.NoteWidth))
	}
}
