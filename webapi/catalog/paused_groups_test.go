package catalog

import (
	"testing"
	"time"

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
