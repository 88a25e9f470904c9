package history

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

func TestAnAnswerIsDrawnWithTheCommandsThatHelp(t *testing.T) {
	a := outcome.Answer{
		Job: "ops/backup", At: drawtest.At("03:00:00.000"), Zone: "UTC", Verdict: outcome.WasSkipped, FireTime: drawtest.At("03:00:00.000"), RunID: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b01",
		Reason: "the fire of 2026-03-01T03:00:00Z was skipped; the job is paused; paused by ann at 2026-02-28T10:00:00Z", Calendar: "weekend",
		Before: drawtest.At("02:00:00.000"), After: drawtest.At("04:00:00.000"), Remedies: outcome.Remedies,
	}
	drawtest.Golden(t, "why", func(tab *draw.Table) { drawWhy(tab, &a) })
	for _, r := range outcome.Remedies {
		if c := commandOf(&a, r); !strings.HasPrefix(c, "carillon ") {
			t.Errorf("%s has the command %q", r, c)
		}
	}
}
