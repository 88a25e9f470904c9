package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func inPieces(u *logstore.Update) { u.Total = 3 }

// piece has the history say how a piece of step a ended, of three.
func (w *world) piece(index int, s job.Status) {
	w.Helper()
	w.stepped("a", s, inPieces, func(u *logstore.Update) {
		u.Kind, u.Piece, u.StartedAt, u.FinishedAt = runlog.KindFinished, runlog.PieceAt(index), u.At, u.At
		u.Parent, u.Step = "", "" // an executor says nothing of these
	})
}

// The pieces of a step that are to succeed, and what the ledger says of its end.
func TestAStepInPiecesNeedsItsShare(t *testing.T) {
	of := func(good int, why ...string) string {
		return reason.Join(append([]string{reason.PiecesSucceeded.With(good, 3)}, why...)...)
	}
	all := job.Share(0)
	for name, c := range map[string]struct {
		share job.Share
		good  int
		ended job.Status
		why   string
		want  string
	}{
		"all succeeded":              {all, 3, job.StatusSucceeded, "", "a ran"},
		"enough succeeded":           {60, 2, job.StatusSucceeded, of(2, reason.PiecesFailed.With(1), reason.PiecesNeeded.With(job.Share(60))), ""},
		"a third is enough, rounded": {33, 1, job.StatusSucceeded, of(1, reason.PiecesFailed.With(2), reason.PiecesNeeded.With(job.Share(33))), ""},
		"too few succeeded":          {all, 2, job.StatusSucceeded, "", "a discrepancy " + finding.PiecesTooFew.With(2, 3, all)},
		"it says that too few did":   {67, 3, job.StatusSucceeded, of(2, reason.PiecesFailed.With(1)), "a discrepancy " + finding.PiecesTooFew.With(2, 3, job.Share(67))},
		"too few, and it failed":     {67, 2, job.StatusFailed, of(2, reason.PiecesFailed.With(1)), ""},
		"it failed with enough":      {60, 2, job.StatusFailed, of(2, reason.PiecesFailed.With(1)), "a discrepancy " + finding.PiecesEnough.With(2, 3, job.Share(60))},
		"it failed for another why":  {60, 3, job.StatusFailed, reason.PieceResultsCut.With(49152), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := with(stepAfter("a"), func(s *job.Step) { s.Map, s.SucceedsIf = &job.Map{Pieces: 3}, c.share })
			w := newWorkflowWorld(t, nil, s)
			w.wrote(0, job.StatusPending)
			w.stepped("a", job.StatusPending, inPieces)
			for i := range 3 {
				if ended := job.StatusSucceeded; i < c.good {
					w.piece(i, ended)
				} else {
					w.piece(i, job.StatusFailed)
				}
			}
			w.stepped("a", c.ended, inPieces, because(c.why))
			w.wrote(0, c.ended, func(u *logstore.Update) { u.At = noon.Add(time.Minute) })
			if c.want == "" {
				c.want = "a ran " + c.why
			}
			if _, got := w.steps(); !cmp.Equal(got, []string{c.want}) {
				t.Error(cmp.Diff([]string{c.want}, got))
			}
		})
	}
}

func TestARunInPiecesNeedsItsShare(t *testing.T) {
	w := newWorld(t, job.Schedule{Cron: "*/10 * * * *"})
	w.Versions[0].Map, w.Versions[0].SucceedsIf = &job.Map{Pieces: 3}, 60
	tally := func(good int) string {
		return reason.Join(reason.PiecesSucceeded.With(good, 3), reason.PiecesFailed.With(3-good))
	}
	w.wrote(10, job.StatusSucceeded, inPieces, because(tally(2)))
	w.wrote(20, job.StatusSucceeded, inPieces, because(tally(1)))
	w.wrote(30, job.StatusFailed, inPieces, because(tally(2)))
	w.says(10, 40,
		"12:10 ran "+tally(2),
		"12:20 discrepancy "+finding.PiecesTooFew.With(1, 3, job.Share(60)),
		"12:30 discrepancy "+finding.PiecesEnough.With(2, 3, job.Share(60)))

	later := *w.Versions[0]
	later.SucceedsIf, later.Version.Version, later.EffectiveFrom = 33, 2, at(25)
	w.Versions = append(w.Versions, &later)
	w.says(20, 30, "12:20 ran "+tally(1)) // by the later one, if it ended after the edit
}
