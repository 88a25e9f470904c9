package shard

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// offAt returns a skip of the fire so long after noon.
func offAt(after time.Duration) job.Skip {
	return job.Skip{FireTime: noon.Add(after), By: "ada", Reason: "no need"}
}

func TestAFireThatIsCalledOffIsSkippedAlone(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.FireOnce))
	next := *v
	next.Version, next.EffectiveFrom = 2, noon.Add(30*time.Second)
	next.Skip(offAt(2 * time.Minute))
	b.tell(&next)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@2 pending schedule")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 skipped schedule: skipped by ada: no need")
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/a@2 pending schedule")
}

func TestAFireThatIsCalledOffIsSkippedHoweverLateItIsNoticed(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.FireOnce))
	next := *v
	next.Version, next.EffectiveFrom = 2, noon.Add(30*time.Second)
	next.Skip(offAt(3 * time.Minute))
	b.tell(&next)
	b.want(b.step(3*time.Minute+30*time.Second, bus.MaxBatch),
		"12:01:00 g/a@2 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
		"12:02:00 g/a@2 pending misfire: noticed 1m30s late; it stands for 2 misfires",
		"12:03:00 g/a@2 skipped schedule: skipped by ada: no need")
}

func TestFiresThatAreCalledOffAreSkippedAmongTooManyToBeJudgedOneByOne(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Second, job.MisfireSkip))
	next := *v
	next.Version, next.EffectiveFrom = 2, noon.Add(time.Millisecond)
	next.Skip(offAt(10 * time.Second))
	until := noon.Add(5 * time.Second)
	next.PausedUntil = &until
	b.tell(&next)
	b.want(b.step(time.Hour, bus.MaxBatch)[:4],
		"12:00:01-12:00:04(4) g/a@2 skipped schedule: the job is paused until 2026-03-02T12:00:05Z",
		"12:00:05-12:00:09(5) g/a@2 missed schedule: noticed too late; the misfire policy is skip",
		"12:00:10 g/a@2 skipped schedule: skipped by ada: no need",
		"12:00:11-12:43:04(2574) g/a@2 missed schedule: noticed too late; the misfire policy is skip")
}

func TestAPauseEndsByItself(t *testing.T) {
	b := newBench(t)
	until := noon.Add(2 * time.Minute)
	b.put(0, 1, func(v *job.Version) {
		every(time.Minute, job.FireOnce)(v)
		v.PausedUntil = &until
	})
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 skipped schedule: the job is paused until 2026-03-02T12:02:00Z")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule")
}

func TestFiresAfterAPauseThatHasEndedFollowTheMisfirePolicy(t *testing.T) {
	b := newBench(t)
	until := noon.Add(2 * time.Minute)
	b.put(0, 1, func(v *job.Version) {
		every(time.Minute, job.FireOnce)(v)
		v.PausedUntil = &until
	})
	b.want(b.step(3*time.Minute+30*time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 skipped schedule: the job is paused until 2026-03-02T12:02:00Z",
		"12:02:00 g/a@1 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
		"12:03:00 g/a@1 pending misfire: noticed 30s late; it stands for 2 misfires")
}

func TestThePauseOfEverythingEndsByItself(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Minute, job.FireOnce))
	b.m.Cluster.PutHold("", job.Pause{Paused: true, EffectiveFrom: noon, Until: noon.Add(2 * time.Minute)})
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 skipped schedule: everything is paused")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule")
}

func TestThePauseOfAGroupHoldsForItsJobsAlone(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Minute, job.FireOnce))
	b.m.Cluster.PutHold("h", job.Pause{Paused: true, EffectiveFrom: noon})
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.m.Cluster.PutHold("g", job.Pause{Paused: true, EffectiveFrom: noon.Add(time.Minute), Until: noon.Add(3 * time.Minute)})
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 skipped schedule: executor group g is paused")
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/a@1 pending schedule")
}

func TestFiresNoticedLateDoNotRunWhileTheirGroupIsPaused(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Minute, job.FireOnce))
	b.m.Cluster.PutHold("g", job.Pause{Paused: true, EffectiveFrom: noon.Add(90 * time.Second)})
	b.want(b.step(2*time.Minute+30*time.Second, bus.MaxBatch),
		"12:01:00 g/a@1 missed schedule: noticed too late; the executor group was paused by then",
		"12:02:00 g/a@1 skipped schedule: executor group g is paused")
}
