package run

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// shownPieces, shownChildren and shownParents bound what get runs RUN shows beside the run.
	shownPieces   = 200
	shownChildren = 50
	shownParents  = 20
)

// showOne shows a run with what it is made of, and what it follows.
func showOne(cmd *cobra.Command, r *cli.Remote, name string) error {
	id, err := cli.RunID(name)
	if err != nil {
		return err
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	run, err := cli.AwaitHistory(cmd.Context(), id, func() (client.RunDetail, error) {
		return client.Read[client.RunDetail](api.GetRun(cmd.Context(), string(id)))
	})
	if err != nil {
		return err
	}
	if r.Output.IsData() {
		return r.Show(cmd.OutOrStdout(), run, nil)
	}
	return showRun(cmd.Context(), r, api, run, cmd.OutOrStdout())
}

// kin is what is shown beside a run.
type kin struct {
	pieces   client.PieceList
	parents  []client.Run // the nearest first
	children client.RunPage
	steps    client.RunSteps
}

func showRun(ctx context.Context, r *cli.Remote, api *client.API, run client.RunDetail, w io.Writer) error {
	var k kin
	var err error
	newest := run.Attempts[0]
	if run.Steps > 0 {
		if k.steps, err = readSteps(ctx, api, run.RunID); err != nil {
			return err
		}
	}
	if newest.Total > 0 {
		if k.pieces, err = api.Pieces(ctx, string(run.RunID), client.ListPiecesParams{}, shownPieces); err != nil {
			return err
		}
	}
	// A parent may be older than what the history keeps.
	for id := run.Attempts[0].Parent; id != "" && len(k.parents) < shownParents; {
		found, err := client.Read[client.RunDetail](api.GetRun(ctx, string(id)))
		if err != nil {
			k.parents = append(k.parents, client.Run{RunID: id})
			break
		}
		k.parents = append(k.parents, found.Attempts[0])
		id = found.Attempts[0].Parent
	}
	if k.children, err = api.Runs(ctx, client.ListRunsParams{Parent: new(string(run.RunID))}, shownChildren); err != nil {
		return err
	}
	return r.Show(w, nil, func(t *draw.Table) { drawRun(t, run, k) })
}

func drawKin(t *draw.Table, k kin) {
	if len(k.steps.Steps) > 0 {
		t.Line("")
		drawSteps(t, k.steps)
	}
	if k.pieces.Total > 0 {
		drawPieces(t, k.pieces)
	}
	if len(k.parents) > 0 {
		t.Line("")
		t.Row("AFTER", "JOB", "STATUS", "FIRE TIME")
		for _, p := range k.parents {
			t.Row(string(p.RunID), draw.OrDash(string(p.Job)), draw.OrDash(shownStatus(p)), t.Instant(p.FireTime))
		}
	}
	drawFollowing(t, "CHILD", k.children, func(c client.Run) bool { return c.Cause != job.CauseRerun && c.Step == "" })
	drawFollowing(t, "RERUN BY", k.children, func(c client.Run) bool { return c.Cause == job.CauseRerun })
	if k.children.Next != "" {
		t.Line("and more; list them with carillon get runs --parent")
	}
}

// drawFollowing shows those of the runs that followed one for which is holds.
func drawFollowing(t *draw.Table, title string, runs client.RunPage, is func(client.Run) bool) {
	shown := false
	for _, c := range runs.Items {
		if !is(c) {
			continue
		}
		if !shown {
			t.Line("")
			t.Row(title, "JOB", "STATUS", "FIRE TIME", "TOOK", "NOTE")
			shown = true
		}
		t.Row(string(c.RunID), string(c.Job), shownStatus(c), t.Instant(c.FireTime), draw.Took(c.RunStartedAt(), c.FinishedAt), t.Cell(runNote(t, c), draw.NoteWidth))
	}
}

func drawPieces(t *draw.Table, list client.PieceList) {
	t.Line("")
	summary := []string{draw.Count(list.Total, "piece")}
	for _, s := range job.Statuses {
		if n := list.Counts[s]; n > 0 {
			summary = append(summary, strconv.Itoa(n)+" "+string(s))
		}
	}
	t.Line(strings.Join(summary, ", "))
	if len(list.Items) == 0 {
		return
	}
	t.Row("INDEX", "ATTEMPT", "STATUS", "INSTANCE", "STARTED", "TOOK", "NOTE")
	for _, p := range list.Items {
		attempt := strconv.Itoa(p.Attempt)
		p.Attempt = 0 // the column says it
		t.Row(strconv.Itoa(p.Piece.Index()), attempt, shownStatus(p), t.Cell(p.Instance, 40), t.Instant(p.StartedAt), draw.Took(p.StartedAt, p.FinishedAt), t.Cell(runNote(t, p), draw.NoteWidth))
	}
	if list.NextIndex > 0 {
		t.Line("and more, from index " + strconv.Itoa(list.NextIndex))
	}
}

// shownStatus tells the status of an attempt, and that another is to follow.
func shownStatus(r client.Run) string {
	if r.Retrying {
		return string(r.Status) + ", retrying"
	}
	return string(r.Status)
}
