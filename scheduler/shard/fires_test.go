package shard

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestFiresThatAreLateBecauseNobodyDecidedSayWhy(t *testing.T) {
	const why = "the clock of node a was 1h ahead of NATS' clock"
	stood := Standstill{From: noon.Add(90 * time.Second).UnixMilli(), To: noon.Add(5 * time.Minute).UnixMilli(), Reason: why}
	skip := func(v *job.Version) { v.Misfire.Policy = job.MisfireSkip }
	for name, c := range map[string]struct {
		policy func(*job.Version)
		at     time.Duration
		want   []string
	}{
		"skipped, and one before that is not explained": {skip, 5 * time.Minute, []string{
			"12:05:00 g/a@1 pending schedule",
			"12:01:00 g/a@1 missed schedule: noticed too late; the misfire policy is skip",
			"12:02:00-12:04:00(3) g/a@1 missed schedule: noticed too late; " + why + "; the misfire policy is skip",
		}},
		"within its grace": {skip, 5*time.Minute + 4*time.Second, []string{
			"12:05:00 g/a@1 pending schedule: decided 4s late; " + why,
			"12:01:00 g/a@1 missed schedule: noticed too late; the misfire policy is skip",
			"12:02:00-12:04:00(3) g/a@1 missed schedule: noticed too late; " + why + "; the misfire policy is skip",
		}},
		"run once": {func(*job.Version) {}, 4*time.Minute + 30*time.Second, []string{
			"12:01:00 g/a@1 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
			"12:02:00-12:03:00(2) g/a@1 missed schedule: noticed too late; " + why + "; by misfire policy fire_once the latest stood for all",
			"12:04:00 g/a@1 pending misfire: noticed 30s late; " + why + "; it stands for 4 misfires",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put(0, 1, func(v *job.Version) { minutely(v); v.Misfire.Grace = job.Duration(job.DefaultGrace); c.policy(v) })
			b.m.StoodStill(stood)
			b.m.StoodStill(stood)
			b.want(b.step(c.at, bus.MaxBatch), c.want...)
		})
	}
}

func TestASuccessorSaysWhyItsPredecessorDecidedNothing(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { minutely(v); v.Misfire.Grace = job.Duration(job.DefaultGrace) })
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.m.StoodStillUntil(noon.Add(3*time.Minute).UnixMilli(), "the clock of node a was 1h ahead of NATS' clock")
	b.want(b.step(3*time.Minute+2*time.Second, bus.MaxBatch),
		"12:03:00 g/a@1 pending schedule: decided 2s late; the clock of node a was 1h ahead of NATS' clock",
		"12:02:00 g/a@1 pending misfire: noticed 1m2s late; the clock of node a was 1h ahead of NATS' clock")
}
