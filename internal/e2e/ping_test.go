//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// Watched jobs fire that often, one after the other. A ping is as late as the server that takes it is slow, and no age tells
// of that: the time between two fires is longer than a server or NATS is frozen, and pings come hardly early.
const (
	watchedJobs  = 40
	watchedEvery = 20 * time.Second
	watchedEarly = time.Second
	watchedGrace = 15 * time.Second
)

// machine does the runs of watched jobs, and reports them. It repeats a ping until a server has answered that it is
// stored. One run in six is not done.
type machine struct {
	*load
	api *client.API

	mu   sync.Mutex
	done map[job.RunID]bool // by run; true: its end was stored
}

// save saves the jobs.
func (m *machine) save(t *testing.T) {
	t.Helper()
	for i := range m.jobs {
		early, anchor := job.Duration(watchedEarly), m.anchor(i)
		j := job.Job{
			Job: m.name(i), Timeout: job.Duration(time.Minute), Schedule: job.Schedule{FixedRate: job.Duration(m.rate), Anchor: &anchor, Until: &m.until},
			Task: job.Task{Watch: &job.Watch{Grace: job.Duration(watchedGrace), Early: &early, From: job.WatchFromNow}},
		}
		processtest.Await(t, processtest.Patience, "save a watched job", func() error {
			_, err := client.Read[client.PutJobResult](m.api.PutJob(t.Context(), m.group, m.name(i).Short(), nil, client.JobDocument{Job: j}))
			m.since[i] = time.Now()
			return err
		})
	}
}

// anchor returns one of the instants at which job i fires, before it does.
func (m *machine) anchor(i int) time.Time {
	return m.until.Add(-time.Hour).Truncate(m.rate).Add(time.Duration(i) * m.rate / time.Duration(m.jobs))
}

// work does the runs of job i until there are no more.
func (m *machine) work(ctx context.Context, i int, r *rand.Rand) {
	var runs sync.WaitGroup
	defer runs.Wait()
	for fire := m.anchor(i); !fire.After(m.until); fire = fire.Add(m.rate) {
		if !fire.After(m.since[i]) || !pause(ctx, time.Until(fire.Add(between(r, 0, time.Second)))) {
			continue
		}
		if r.IntN(6) == 0 {
			continue
		}
		id, takes := job.FireRunID(m.name(i), fire.UnixMilli(), job.CauseSchedule), between(r, 0, 3*time.Second)
		m.note(id, false)
		runs.Go(func() {
			begin := time.Now()
			key := fmt.Sprint("k", fire.Unix())
			if !m.ping(ctx, i, begin, client.PingRequest{Kind: "start", Run: key}) || !pause(ctx, takes) {
				return
			}
			end := time.Now()
			if m.ping(ctx, i, end, client.PingRequest{Kind: "end", Run: key, Took: float32(end.Sub(begin).Seconds())}) {
				m.note(id, true)
			}
		})
	}
}

func (m *machine) note(id job.RunID, stored bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[id] = stored
}

// ping reports what was so at an instant.
func (m *machine) ping(ctx context.Context, i int, at time.Time, p client.PingRequest) bool {
	for {
		p.Age, p.ID = float32(time.Since(at).Seconds()), p.Run+"-"+string(p.Kind)
		if _, err := client.Read[client.PingAccepted](m.api.PingJob(ctx, m.group, m.name(i).Short(), p)); err == nil {
			return true
		}
		if !pause(ctx, 300*time.Millisecond) {
			return false
		}
	}
}

// TestChaosLosesNoPing kills and freezes servers and NATS while another machine does the runs of watched jobs. Each run
// that was done is reported, in time or late; the others are missed.
func TestChaosLosesNoPing(t *testing.T) {
	t.Parallel()
	d := processtest.ChaosFor(t, shortChaos)
	c := newServers(t, 1)
	x := &chaos{c: c, seed: rand.Uint64(), storeAway: min(d/4, time.Minute)}
	t.Logf("seed %d, faults for %s", x.seed, d)
	begun := time.Now()
	m := &machine{
		load: newLoad("elsewhere", watchedJobs, watchedEvery, time.Now().Add(saving+d+watchedEvery), nil), api: c.api, done: map[job.RunID]bool{},
	}
	m.save(t)
	var work sync.WaitGroup
	for i := range m.jobs {
		r := x.random(uint64(100 + i))
		work.Go(func() { m.work(t.Context(), i, r) })
	}
	ctx, heal := context.WithTimeout(t.Context(), d)
	defer heal()
	var lanes sync.WaitGroup
	lanes.Go(func() { x.harmServers(ctx, x.random(1)) })
	lanes.Go(func() { x.harmNATS(ctx, x.random(3)) })
	lanes.Wait()
	work.Wait()
	c.awaitReady()

	var runs []client.Run
	processtest.Await(t, 5*time.Minute, "see the ends of all runs", func() error {
		page, err := c.api.Runs(t.Context(), client.ListRunsParams{Group: &m.group}, 0)
		if err != nil {
			return err
		}
		runs = page.Items
		for i := range runs {
			if !runs[i].Status.Final() {
				return fmt.Errorf("run %s of %s is %s", runs[i].RunID, runs[i].Job, runs[i].Status)
			}
		}
		if time.Now().Before(m.until.Add(watchedGrace + 10*time.Second)) {
			return errors.New("the last fires have time")
		}
		return complete(t.Context(), c.api)
	})
	m.check(t, runs)
	page := c.judged(t, m.group, begun, m.until.Add(time.Second))
	if page.Total.Pending+page.Total.Undecided+page.Total.Unjudged+page.Total.Discrepancies > 0 {
		t.Errorf("the ledger is not clean: %+v", page.Total)
	}
	t.Logf("%d faults, %d runs were done; carillon ledger verify: %+v", len(x.faults), len(m.done), page.Total)
}

// check checks what the history says of each run.
func (m *machine) check(t *testing.T, runs []client.Run) {
	t.Helper()
	late, seen := 0, map[job.RunID]bool{}
	for i := range runs {
		r := &runs[i]
		stored, done := m.done[r.RunID]
		reported := r.Reported
		switch {
		case r.Cause == job.CausePing:
			t.Errorf("run %s of %s, which no fire asked for: %+v", r.RunID, r.Job, r)
		case done && stored && !reported:
			t.Errorf("the end of run %s of %s was stored, and is not reported: %s, %s", r.RunID, r.Job, r.Status, r.Reason)
		case !done && (reported || r.Status != job.StatusMissed):
			t.Errorf("run %s of %s was not done, and is %s", r.RunID, r.Job, r.Status)
		case done && r.Status != job.StatusSucceeded:
			late++
		}
		seen[r.RunID] = true
	}
	for id := range m.done {
		if !seen[id] {
			t.Errorf("run %s is not in the history", id)
		}
	}
	t.Logf("%d of %d runs were reported late", late, len(m.done))
}
