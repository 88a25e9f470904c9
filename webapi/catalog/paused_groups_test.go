package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAPauseSkipsTheFiresAfterItBeganAndBeforeItEnds(t *testing.T) {
	from := time.Date(2026, 1, 5, 10, 30, 0, 0, time.UTC)
	var p pauses
	p.put("billing", job.Pause{Paused: true, EffectiveFrom: from, Until: from.Add(time.Hour)})
	groups := p.now(from.Add(time.Minute))
	for _, c := range []struct {
		group string
		after time.Duration
		skips bool
	}{
		{"billing", -time.Minute, false},
		{"billing", 0, false},
		{"billing", time.Millisecond, true},
		{"billing", time.Hour - time.Millisecond, true},
		{"billing", time.Hour, false},
		{"other", time.Minute, false},
	} {
		if got := groups.skips(c.group, from.Add(c.after).UnixMilli()); got != c.skips {
			t.Errorf("a fire of %s %s after the pause began: skipped %t", c.group, c.after, got)
		}
	}
}

func TestAnIndexIsReadyOnceItKnowsThePausesOfGroups(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		const groups = 200 // which take longer to read than the jobs
		conn := connect(t, bustest.NewBroker(t), "ours")
		for i := range groups {
			if _, _, err := conn.Pauses().Set(t.Context(), fmt.Sprintf("g%d", i), true, time.Time{}, cluster.Edit{At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		x := newIndex(conn, func(job.Name) {}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.run(ctx) }()
		if err := x.wait(ctx); err != nil {
			t.Fatal(err)
		}
		if got := len(x.pauses.now(time.Now().Add(time.Minute))); got != groups {
			t.Errorf("it knows %d of %d paused groups", got, groups)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
