package bench

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// fanEvery is the time between two runs that fan out. The first second is for the others alone.
const fanEvery = 2 * time.Second

// benchFanout has a workflow begin all its steps at once every two seconds, while many other jobs fire, and nobody to do
// either. It takes the time until the last step is triggered, and how late the others are. In turns it measures a job
// whose runs have as many pieces, and the others alone.
func benchFanout(ctx context.Context, o benchOptions) (*benchResult, error) {
	if err := o.checkSteps(); err != nil {
		return nil, err
	}
	if o.rate < 1 || o.runFor < 2*fanEvery {
		return nil, cli.Usage(errors.New("--rate must be at least 1, and --for at least 4s"))
	}
	kind := func(change func(*job.Job)) measurement {
		return func(ctx context.Context) (*benchResult, error) { return o.fanOut(ctx, change) }
	}
	all, err := inTurns(ctx, o.turns,
		kind(func(j *job.Job) { j.Task, j.Steps = job.Task{}, stepsOf(shapeWide, o.steps) }),
		kind(func(j *job.Job) { j.Map = &job.Map{Pieces: o.steps} }),
		kind(nil))
	if err != nil {
		return nil, err
	}
	steps, pieces, alone := all[0], all[1], all[2]
	r := steps.beside(pieces)
	r.besideLateness(alone)
	r.Lost += alone.Lost
	r.times("p99_of_pieces", pieces.P99, alone.P99)
	return r, nil
}

// fanOut measures jobs of which one fans out, as change says; nil is none.
func (o benchOptions) fanOut(ctx context.Context, change func(*job.Job)) (*benchResult, error) {
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	l, err := o.load()
	if err != nil {
		return nil, err
	}
	fans := 0
	until := l.from.Add(o.runFor)
	schedule := func(i int) job.Schedule {
		if i < o.jobs {
			return l.schedule(i)
		}
		anchor := l.from.Add(time.Second)
		return job.Schedule{FixedRate: job.Duration(fanEvery), Anchor: &anchor, From: &anchor, Until: &until}
	}
	if change != nil {
		fans = int((o.runFor - time.Second) / fanEvery)
		w.change = func(j *job.Job) {
			if j.Job == benchJob(o.jobs) {
				change(j)
			}
		}
	}
	if err := w.seed(ctx, o.jobs+min(fans, 1), l.from.Add(-time.Millisecond), schedule); err != nil {
		return nil, err
	}
	nodes, err := w.startNodes(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := begin(ctx, l.from, 0); err != nil {
		return nil, err
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	if err := pause.For(ctx, o.runFor); err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return w.triggersOut(ctx, l.runs+fans*o.steps) }); err != nil {
		return nil, err
	}
	_, used := meter.stop()
	if err := nodes[0].close(); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, Count: fans, CPUMicros: each(used, l.runs+fans*o.steps)}
	if r.Seconds, err = w.lastTriggers(ctx, benchJob(o.jobs)); err != nil {
		return nil, err
	}
	late, err := w.latenessBut(ctx, benchJob(o.jobs))
	if err != nil {
		return nil, err
	}
	r.P50, r.P99, r.Max = late.quantiles()
	r.Lost = l.runs - len(late.all)
	return r, nil
}

// lastTriggers returns the mean, over the fires of a job, of the seconds until the last trigger of a fire was stored.
func (w *benchWorld) lastTriggers(ctx context.Context, name job.Name) (seconds float64, err error) {
	last := map[time.Time]time.Time{}
	for _, stream := range w.conn.Trigs() {
		if err := w.conn.Scan(ctx, stream, "trig.>", func(m *jet.Stored) bool {
			var t struct {
				Job      job.Name  `json:"job"`
				FireTime time.Time `json:"fire_time"`
			}
			if json.Unmarshal(m.Data, &t) == nil && t.Job == name && m.At.After(last[t.FireTime]) {
				last[t.FireTime] = m.At
			}
			return true
		}); err != nil {
			return 0, err
		}
	}
	for fire, at := range last {
		seconds += at.Sub(fire).Seconds() / float64(len(last))
	}
	return seconds, nil
}

// latenessBut is lateness of the fires of all jobs but one.
func (w *benchWorld) latenessBut(ctx context.Context, but job.Name) (*lateness, error) {
	l := &lateness{}
	for _, stream := range w.conn.Trigs() {
		if err := w.conn.Scan(ctx, stream, "rec.*", func(m *jet.Stored) bool {
			r, err := journal.DecodeRecord(m.Header, m.Data)
			if err != nil {
				return true // its fires count as lost
			}
			_ = r.Each(func(d journal.Decided) {
				if d.Job != but {
					l.all = append(l.all, float32(m.At.Sub(d.FireTime).Seconds()*1000))
				}
			})
			return true
		}); err != nil {
			return nil, err
		}
	}
	return l, nil
}
