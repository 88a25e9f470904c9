package shard

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// failing is a bench with a job every minute of which each run's first attempt fails at second 5.
func failing(t *testing.T, wish func(*bus.Event)) *bench {
	t.Helper()
	b := newBench(t)
	b.put(time.Second, 1, func(v *job.Version) {
		everyMinute(job.OverlapSkip)(v)
		v.Retry = job.Retry{Limit: 3, Backoff: job.BackoffConstant, Delay: job.Duration(10 * time.Second), On: []job.Status{job.StatusFailed}}
	})
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	e := &bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: runAt(time.Minute), Attempt: 1, Status: job.StatusFailed}
	wish(e)
	b.m.Event(e, 2, noon.Add(time.Minute+5*time.Second).UnixMilli())
	return b
}

func TestAHandlerMaySayThatNoAttemptShallFollow(t *testing.T) {
	b := failing(t, func(e *bus.Event) { e.Final = true })
	b.want(b.step(time.Minute+5*time.Second, bus.MaxBatch))
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule") // the first has ended
}

func TestAHandlerMaySayWhenTheNextAttemptIsDue(t *testing.T) {
	b := failing(t, func(e *bus.Event) { e.RetryAfter = job.Duration(30 * time.Second) })
	b.want(b.step(time.Minute+5*time.Second, bus.MaxBatch), "12:01:00 g/a@1 queued schedule: attempt 1 failed; the next is due 30s later")
	b.want(b.step(time.Minute+34*time.Second, bus.MaxBatch))
	b.want(b.step(time.Minute+35*time.Second, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
}
