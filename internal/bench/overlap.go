package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// overlapTakes is how long a run takes, in parts of the time between two fires of its
	// job: each fire finds the run before it alive, and the queues grow all the time.
	overlapTakes = 1.25
	// overlapRate is how many fires there are per second, unless a flag says otherwise.
	overlapRate = 1000
)

// benchOverlap has jobs fire faster than their runs end, each with a queue and room for
// one run at a time, and looks whether every fire gets its run, in order and alone.
func benchOverlap(ctx context.Context, o benchOptions) (*benchResult, error) {
	if o.jobs < 1 || o.runFor < time.Second {
		return nil, cli.Usage(errors.New("--jobs must be at least 1, and --for at least 1s"))
	}
	rate := o.rate
	if rate == 0 {
		rate = overlapRate
	}
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	every := max(time.Second, time.Duration(o.jobs)*time.Second/time.Duration(rate)).Truncate(time.Millisecond)
	from := o.readyBy()
	until := from.Add(o.runFor)
	schedule := func(int) job.Schedule {
		return job.Schedule{FixedRate: job.Duration(every), Spread: job.Duration(every), From: &from, Until: &until}
	}
	w.change = func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 1000}
	}
	if err := w.seed(ctx, o.jobs, from.Add(-time.Second), schedule); err != nil {
		return nil, err
	}
	seen := &queueCheck{runs: map[job.RunID]int{}, last: map[job.Name]time.Time{}, alive: map[job.Name]int{}}
	takes := time.Duration(float64(every) * overlapTakes)
	parts, stop := context.WithCancel(ctx)
	defer stop()
	ended, err := w.startExecutors(parts, "bench", 1, o.jobs, func(ctx context.Context, run *executor.Run) (any, error) {
		seen.begin(run)
		defer seen.end(run)
		return nil, pause.For(ctx, takes)
	})
	if err != nil {
		return nil, err
	}
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	if err := node.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	if err := pause.For(ctx, time.Until(from)); err != nil {
		return nil, err
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	wanted, err := firesUntil(o.jobs, from.Add(-time.Second), until.Add(every), schedule)
	if err != nil {
		return nil, err
	}
	// Those of the last fires begin when all before them have ended, one after the other.
	limit, cancel := context.WithTimeout(ctx, 3*o.runFor+10*every+time.Minute)
	defer cancel()
	_ = poll(limit, func() (bool, error) { return seen.ended() >= len(wanted), nil }) // what is missing is counted below
	elapsed, used := meter.stop()
	r := &benchResult{Jobs: o.jobs, Seconds: elapsed.Seconds()}
	r.Count, r.Lost, r.Doubled, r.Disorder = seen.judge(wanted)
	r.Rate = float64(r.Count) / r.Seconds
	r.CPUMicros = each(used, r.Count)
	if err := node.close(); err != nil {
		return nil, err
	}
	stop()
	return r, drain(ended)
}

// firesUntil returns the runs that n jobs owe to the fires that are due up to an instant.
func firesUntil(n int, after, upto time.Time, schedule func(i int) job.Schedule) (map[job.RunID]bool, error) {
	planner := &job.Planner{}
	wanted := map[job.RunID]bool{}
	for i := range n {
		name := benchJob(i)
		plan, err := planner.Plan(&job.Version{Job: job.Job{Job: name, Schedule: schedule(i)}, EffectiveFrom: after})
		if err != nil {
			return nil, err
		}
		job.History{plan}.Fires(0, after.UnixMilli(), upto.UnixMilli(), func(f job.Fire) bool {
			wanted[job.FireRunID(name, f.At, job.CauseSchedule)] = true
			return true
		})
	}
	return wanted, nil
}

// queueCheck looks whether the runs of each job come in the order of their fires, one at
// a time. It is safe for concurrent use.
type queueCheck struct {
	mu       sync.Mutex
	runs     map[job.RunID]int // how often each has begun
	last     map[job.Name]time.Time
	alive    map[job.Name]int
	over     int
	disorder int
}

func (c *queueCheck) begin(run *executor.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[run.ID()]++
	if c.alive[run.Job()]++; c.alive[run.Job()] > 1 || run.FireTime().Before(c.last[run.Job()]) {
		c.disorder++
	}
	c.last[run.Job()] = run.FireTime()
}

func (c *queueCheck) end(run *executor.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive[run.Job()]--
	c.over++
}

func (c *queueCheck) ended() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// judge compares what has run with what was owed.
func (c *queueCheck) judge(wanted map[job.RunID]bool) (count, lost, doubled, disorder int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range wanted {
		if c.runs[id] == 0 {
			lost++
		}
	}
	for id, n := range c.runs {
		if doubled += n - 1; !wanted[id] {
			doubled++
		}
	}
	return c.over, lost, doubled, c.disorder
}
