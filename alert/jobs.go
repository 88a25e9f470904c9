package alert

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// jobs knows which groups have jobs, what labels those have and which run elsewhere, while a rule needs it.
type jobs struct {
	data    map[job.Name]job.Labels // belongs to follow, as watched does
	watched map[job.Name]time.Time
	seen    atomic.Pointer[jobsView]
}

// jobsView is what jobs knew at an instant. It is not changed.
type jobsView struct {
	labels map[job.Name]job.Labels // of jobs that executors do, and that are neither deleted nor paused
	// watched are the jobs that run elsewhere, and are neither deleted nor paused, with the instants since when they are
	// as they are. It is nil until the jobs are loaded.
	watched map[job.Name]time.Time
}

func newJobs() *jobs {
	j := &jobs{data: map[job.Name]job.Labels{}, watched: map[job.Name]time.Time{}}
	j.seen.Store(&jobsView{})
	return j
}

func (j *jobs) view() *jobsView { return j.seen.Load() }

func (v *jobsView) labelsOf(name job.Name) job.Labels { return v.labels[name] }

// groups returns the groups whose jobs need executors, sorted.
func (v *jobsView) groups() []string {
	set := map[string]bool{}
	for name := range v.labels {
		set[name.Group()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// publishEvery is how often what has changed becomes a view.
const publishEvery = time.Second

// follow keeps the view up to date until ctx is done. It reads the jobs from when a rule
// first needs them.
func (j *jobs) follow(ctx context.Context, conn *cluster.Conn, s *mirror) error {
	for !needsJobs(s.active()) {
		if pause.For(ctx, publishEvery) != nil {
			return nil
		}
	}
	w, err := conn.Jobs().Watch(ctx, false)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	publish := time.NewTicker(publishEvery)
	defer publish.Stop()
	loaded, changed := false, false
	for {
		select {
		case e, more := <-w.Updates():
			switch {
			case !more:
				return nil
			case e == nil:
				loaded, changed = true, true
			default:
				j.apply(e)
				changed = true
			}
		case <-publish.C:
			if loaded && changed {
				j.seen.Store(&jobsView{maps.Clone(j.data), maps.Clone(j.watched)})
				changed = false
			}
		}
	}
}

func (j *jobs) apply(e jetstream.KeyValueEntry) {
	name, ok := bus.JobOfKey(e.Key())
	if !ok {
		return
	}
	delete(j.data, name)
	delete(j.watched, name)
	if e.Operation() != jetstream.KeyValuePut {
		return
	}
	switch v, err := cluster.DecodeJobEntry(e); {
	case err != nil || v.Deleted || v.Paused:
	case v.Elsewhere():
		j.watched[name] = v.EffectiveFrom
	default:
		j.data[name] = v.Labels
	}
}

func needsJobs(rules []*alerting.Rule) bool {
	return slices.ContainsFunc(rules, func(r *alerting.Rule) bool {
		return r.When.NoExecutor > 0 || r.When.NeverHeard > 0 || len(r.Match.Labels) > 0
	})
}
