//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// TestChaosEveryShardIsOwnedAgainAfterEachServerStops restarts the Carillon servers and the
// NATS servers of a cluster one after the other while 500 jobs fire, and then kills one of each.
// It reports how long some shards had no owner, and wants no more than that all have one in the end.
func TestChaosEveryShardIsOwnedAgainAfterEachServerStops(t *testing.T) {
	c := newServers(t, 3)
	const jobs, every = 500, 10 * time.Second
	c.startNoOps("idle")
	c.saveNoOps("idle", jobs, every)
	c.awaitOwned("all", c.monitors)

	made := c.consumersMade()
	var stops []time.Duration
	roll := func(processes []*processtest.Process, i int, how string, end func(*processtest.Process)) {
		p, others := processes[i], c.monitors
		if !c.isNATS(p.Name) {
			others = slices.Delete(slices.Clone(c.monitors), i, i+1)
		}
		end(p)
		took := c.awaitOwned("all without "+p.Name, others)
		if _, err := p.Wait(processtest.Patience); err != nil {
			t.Fatal(err)
		}
		p.Begin(t)
		back := c.awaitOwned("all with "+p.Name, c.monitors)
		processtest.Await(t, processtest.Patience, "have whole replicas", c.whole)
		if stops = append(stops, took); how == "stopped" {
			t.Logf("%s %s: every shard owned again after %s; started again: after %s; consumers made meanwhile: %s", p.Name, how, took, back, made())
		}
	}
	median := func(what string) {
		slices.Sort(stops)
		t.Logf("%d times %s: every shard owned again after %s in the median, %s at most", len(stops), what, stops[len(stops)/2], stops[len(stops)-1])
		stops = nil
	}
	for _, processes := range [][]*processtest.Process{c.servers, c.nats} {
		for until := time.Now().Add(processtest.ChaosFor(t, shortChaos) / 2); len(stops) == 0 || time.Now().Before(until); {
			roll(processes, len(stops)%len(processes), "stopped", (*processtest.Process).Terminate)
		}
		median(processes[0].Name + " or another stopped")
	}
	roll(c.servers, 1, "killed", (*processtest.Process).Kill)
	median("server-1 killed")
	roll(c.nats, 1, "killed", (*processtest.Process).Kill)
	median("nats-1 killed")
	if err := c.brokenOff(); err != nil {
		t.Error(err)
	}
}

// settled is for how long every shard must have an owner until that counts: a lease that can no
// longer be renewed is believed in for some seconds.
const settled = 8 * time.Second

// awaitOwned waits until the servers with these metrics own every shard, and go on doing so. It returns
// after what time that began.
func (c *system) awaitOwned(what string, monitors []string) time.Duration {
	c.t.Helper()
	began := time.Now()
	owned := began
	processtest.Await(c.t, 10*time.Minute, "own shards: "+what, func() error {
		if err := c.ownAll(monitors); err != nil {
			owned = time.Now()
			return err
		}
		if time.Since(owned) < settled {
			return errors.New("not for long")
		}
		return nil
	})
	return owned.Sub(began).Round(10 * time.Millisecond)
}

var ownedPattern = regexp.MustCompile(`(?m)^carillon_shards_owned ([0-9]+)$`)

// ownAll returns an error unless the servers with these metrics own every shard, and each some.
func (c *system) ownAll(monitors []string) error {
	sum := 0
	for _, address := range monitors {
		n, err := shardsOwned(c.t.Context(), address)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%s owns no shard", address)
		}
		sum += n
	}
	if sum != cluster.DefaultShards {
		return fmt.Errorf("%d shards are owned", sum)
	}
	return nil
}

func shardsOwned(ctx context.Context, address string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	found := ownedPattern.FindSubmatch(text)
	if found == nil {
		return 0, errors.New("no metric of owned shards")
	}
	return strconv.Atoi(string(found[1]))
}

// startNoOps starts an executor of a group, in this process, whose runs do nothing.
func (c *system) startNoOps(group string) {
	c.t.Helper()
	conn, err := cluster.Connect(jet.Config{URL: c.url, Name: "no-ops", Options: []nats.Option{nats.MaxReconnects(-1)}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(conn.NC.Close)
	e, err := executor.New(conn.Conn, executor.Config{Group: group, Slots: 128, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.t.Fatal(err)
	}
	e.Handle("noop", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
	ctx, stop := context.WithCancel(context.WithoutCancel(c.t.Context()))
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	c.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			c.t.Error(err)
		}
	})
}

// saveNoOps saves jobs that fire all the time. Every tenth waits for its own runs, so its shard's owner reads events.
func (c *system) saveNoOps(group string, jobs int, every time.Duration) {
	c.t.Helper()
	var g errgroup.Group
	g.SetLimit(8)
	for i := range jobs {
		j := job.Job{Job: job.Name(fmt.Sprintf("%s/job-%03d", group, i)), Schedule: job.Schedule{FixedRate: job.Duration(every)}, Task: job.Task{Handler: "noop"}}
		if i%10 == 0 {
			j.Overlap.Policy = job.OverlapSkip
		}
		g.Go(func() error {
			return processtest.Within(processtest.Patience, func() error {
				l := &load{group: group}
				_, err := l.put(c.t.Context(), c.api, j)
				return err
			})
		})
	}
	if err := g.Wait(); err != nil {
		c.t.Fatalf("save jobs: %v", err)
	}
}

// consumersMade counts requests to make consumers. What it returns tells those since it was called last, by stream.
func (c *system) consumersMade() func() string {
	c.t.Helper()
	streams := []string{"KV_" + bus.BucketJobs, bus.StreamEvt}
	counts := make([]atomic.Int64, len(streams))
	for i, s := range streams {
		if _, err := c.nc.Subscribe("$JS.API.CONSUMER.CREATE."+s+".>", func(*nats.Msg) { counts[i].Add(1) }); err != nil {
			c.t.Fatal(err)
		}
	}
	return func() string {
		var texts []string
		for i, s := range streams {
			now := "?"
			if stream, err := c.js.Stream(c.t.Context(), s); err == nil {
				now = strconv.Itoa(stream.CachedInfo().State.Consumers)
			}
			texts = append(texts, fmt.Sprintf("%d on %s, which has %s", counts[i].Swap(0), s, now))
		}
		return strings.Join(texts, ", ")
	}
}
