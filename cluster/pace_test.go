package cluster

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestTheForecastIsTheLongestOfAllStreams(t *testing.T) {
	now := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	long := now.Add(-time.Hour)
	f := func(name string, at time.Time, perSecond map[string]float64, backlogs []fleet.IngestBacklog, want time.Time) {
		t.Helper()
		p := &IngestPace{At: at, PerSecond: perSecond}
		if got := p.Forecast(backlogs, now); !got.Equal(want) {
			t.Errorf("%s: the forecast is %s; want %s", name, got, want)
		}
	}
	two := func() []fleet.IngestBacklog {
		return []fleet.IngestBacklog{{Stream: bus.StreamEvt, Messages: 100, Since: long}, {Stream: bus.StreamLog, Messages: 900, Since: long}}
	}
	both := map[string]float64{bus.StreamEvt: 10, bus.StreamLog: 30}
	f("both shrink", now, both, two(), now.Add(30*time.Second))
	f("one does not", now, map[string]float64{bus.StreamLog: 30}, two(), time.Time{})
	f("measured by one that is gone", now.Add(-2*time.Minute), both, two(), time.Time{})
	f("none is behind", now, both, []fleet.IngestBacklog{{Stream: bus.StreamLog, Messages: 900, Since: now.Add(-time.Second)}, {Stream: bus.StreamEvt}}, time.Time{})
	few := two()
	few[0].Since = now.Add(-time.Second)
	f("one is not behind", now, map[string]float64{bus.StreamLog: 30}, few, now.Add(30*time.Second))
}
