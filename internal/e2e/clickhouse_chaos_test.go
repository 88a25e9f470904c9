//go:build unix

package e2e

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
)

// historyDatabase is where the servers keep the history on a ClickHouse.
const historyDatabase = "carillon"

func TestChaosLosesAndDoublesNothingWithClickHouse(t *testing.T) {
	history := chtest.Start(t, chserver.Config{Dir: filepath.Join(t.TempDir(), "clickhouse")})
	surviveChaos(t, 1, 1, history)
}

// harmHistory kills the ClickHouse, often enough even when that takes longer than ctx.
func (x *chaos) harmHistory(ctx context.Context, r *rand.Rand) {
	whole := context.WithoutCancel(ctx)
	for n := 0; n < kills || ctx.Err() == nil; n++ {
		pause(whole, between(r, 100*time.Millisecond, 900*time.Millisecond))
		at := time.Now()
		x.history.Kill()
		if r.IntN(4) == 0 {
			pause(whole, between(r, 0, 2*time.Second))
		}
		if err := x.history.Restart(whole); err != nil {
			x.c.t.Error(err)
			return
		}
		x.note(fault{"kill", "clickhouse", at, time.Since(at)})
	}
}

// checkRows wants ClickHouse to have each run once, in rows that were summed up as they
// came in, whatever was written twice, or half, when it was killed.
func (a *audit) checkRows(t *testing.T, history *chserver.Server) {
	t.Helper()
	rows := rowsOf{t, history, historyDatabase}
	ofGroup := "group = '" + a.group + "'"
	whole := " FROM runs WHERE broadcast_index = -1 AND run_status != '' AND " + ofGroup
	rows.want("SELECT toUInt64(sum(sign))"+whole, len(a.runs))
	rows.want("SELECT uniqExact(run_id)"+whole+" AND sign = 1", len(a.runs))
	for _, table := range []string{"report_minute", "report_hour", "report_day"} {
		rows.want("SELECT toUInt64(sum(succeeded + failed + timed_out + cancelled + lost + skipped + missed)) FROM "+table+" WHERE "+ofGroup, len(a.runs))
	}
}
