package run

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestTheNoteOfAStepSaysHowManyPiecesHaveEnded(t *testing.T) {
	said := func(want string, s client.RunStep) {
		t.Helper()
		if got := stepNote(&s, draw.Clock{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	said("37/100 pieces", client.RunStep{State: "running", Pieces: 100, PiecesEnded: 37})
	said("attempt 2; 98/100 pieces; may fail", client.RunStep{State: "queued", Attempt: 2, Pieces: 100, PiecesEnded: 98, MayFail: true})
	said("2 of 3 pieces succeeded", client.RunStep{State: "failed", Pieces: 3, PiecesEnded: 3, Reason: "2 of 3 pieces succeeded"})
}
