package history

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestCountsOfLinesSaySinceWhenTheyWereCounted(t *testing.T) {
	at := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	h := client.LogHistogram{From: at, To: at.Add(2 * time.Hour), Since: at.Add(time.Hour), Buckets: []runlog.HitBucket{
		{At: at}, {At: at.Add(time.Hour), Info: 7, Error: 2, Other: 1},
	}}
	drawn := func() string {
		var b strings.Builder
		if err := cli.AsTable.Show(&b, draw.Clock{}, h, func(t *draw.Table) { drawHitCounts(t, h) }); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := drawn(); strings.Contains(got, "03:00:00Z  ") || !strings.Contains(got, "04:00:00Z  10     0      7     0     2      1") || !strings.Contains(got, "before 2026-01-05 04:00:00Z were not counted") {
		t.Errorf("what was not counted is shown, or not told:\n%s", got)
	}
	h.Since, h.Complete = h.From, true
	if got := drawn(); !strings.Contains(got, "03:00:00Z  0 ") || strings.Contains(got, "not counted") {
		t.Errorf("all was counted, and it shows:\n%s", got)
	}
}
