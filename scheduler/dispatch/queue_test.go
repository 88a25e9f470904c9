package dispatch

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestRunsOfAllPrioritiesBeginWhileAllOfThemWait(t *testing.T) {
	h := newQueue(3, 1)
	anyway := func(*waiting) bool { return true }
	now := time.Date(2026, 1, 5, 2, 0, 0, 0, time.UTC)
	seq := uint64(0)
	fill := func(level, n int) {
		for range n {
			seq++
			h.add(&waiting{offer: &offer{t: &bus.Trigger{}, at: bus.Position{Stream: bus.StreamTrig, Seq: seq}}, source: level})
		}
	}
	picked := func(n int) string {
		var b strings.Builder
		last := map[int]uint64{}
		for range n {
			w := h.pick(now, anyway)
			if w == nil {
				b.WriteByte('-')
				continue
			}
			if w.at.Seq < last[w.source] {
				t.Errorf("%d of level %d comes after %d", w.at.Seq, w.source, last[w.source])
			}
			last[w.source] = w.at.Seq
			b.WriteByte("hnl"[w.source])
		}
		return b.String()
	}
	fill(2, 20)
	fill(1, 20)
	fill(0, 20)
	if got, want := picked(16), "hhhnhhhnhhhnhhln"; got != want {
		t.Errorf("picked %s, want %s", got, want)
	}
	h.takeIf(func(w *waiting) bool { return w.source == 0 })
	if got := picked(16); strings.Count(got, "n") < 15 || !strings.Contains(got, "l") {
		t.Errorf("without high ones: picked %s", got)
	}
	h.takeIf(func(*waiting) bool { return true })
	fill(2, 2)
	if got := picked(3); got != "ll-" {
		t.Errorf("with low ones only: picked %s", got)
	}

	// One for which nobody was free is passed over for a while.
	fill(1, 2)
	h.levels[1][0].after = now.Add(time.Second)
	later := h.levels[1][0].at.Seq
	if w := h.pick(now, anyway); w.at.Seq == later || !h.nextAt(now).Equal(now.Add(time.Second)) || h.pick(now, anyway) != nil {
		t.Errorf("picked %d, which is not to be offered before %s", w.at.Seq, h.nextAt(now))
	}
	if w := h.pick(now.Add(time.Second), anyway); w == nil || w.at.Seq != later {
		t.Errorf("a second later: picked %+v", w)
	}
}
