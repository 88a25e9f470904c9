package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/webapi"
)

// benchAPI measures lists and gets over many jobs and runs at a fixed rate, and then what
// open streams cost. A request's time counts from when it was to be sent, so that one that
// waits behind a slow one is slow too.
func benchAPI(ctx context.Context, o benchOptions) (r *benchResult, err error) {
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	from := time.Now().Truncate(time.Second)
	schedule := func(i int) job.Schedule { return job.Schedule{Cron: strconv.Itoa(i%60) + " 3 * * *"} }
	if err := w.seed(ctx, o.jobs, from, schedule); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(w.dir, "history.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	live, err := seedRuns(ctx, store, o.jobs, o.runs, from)
	if err != nil {
		return nil, err
	}
	api, err := w.startAPI(ctx, store, o.streams+10)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, api.stop()) }()

	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	answers, bad, err := api.load(ctx, o, from)
	if err != nil {
		return nil, err
	}
	elapsed, used := meter.stop()
	r = &benchResult{Jobs: o.jobs, HistoryRuns: o.runs, Count: len(answers), Rate: float64(len(answers)) / elapsed.Seconds(), Seconds: elapsed.Seconds(), Lost: bad, CPUMicros: each(used, len(answers))}
	var all []float64
	for i, a := range answers {
		all = append(all, a.ms)
		if i < len(apiRequests) {
			r.Requests = append(r.Requests, requestTimes{Request: apiRequests[i].what})
		}
	}
	r.P50, r.P99, r.Max = spread(all)
	for kind := range r.Requests {
		var ms, served []float64
		for i := kind; i < len(answers); i += len(apiRequests) {
			ms, served = append(ms, answers[i].ms), append(served, answers[i].served)
		}
		one := &r.Requests[kind]
		one.P50, one.P99, one.Max = spread(ms)
		one.ServedP50, one.ServedP99, one.ServedMax = spread(served)
	}
	if r.Streams = o.streams; o.streams > 0 {
		r.StreamsMB, err = api.streams(ctx, live, o.streams)
	}
	return r, err
}

// seedRuns stores runs of the jobs, the newest just before an instant. One in twenty
// has failed. It returns the id of a further run, which is still running.
func seedRuns(ctx context.Context, store logstore.Store, jobs, runs int, from time.Time) (job.RunID, error) {
	const batch = 5000
	updates := make([]logstore.Update, 0, batch)
	flush := func(n int) error {
		err := store.WriteRuns(ctx, fmt.Sprintf("bench:%d", n), updates)
		updates = updates[:0]
		return err
	}
	for i := range runs {
		at := benchRunAt(i, runs, from)
		name := benchJob(i % jobs)
		status := job.StatusSucceeded
		if i%20 == 0 {
			status = job.StatusFailed
		}
		updates = append(updates, logstore.Update{
			Kind: runlog.KindFinished, RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1, Cause: job.CauseSchedule,
			At: at.Add(2 * time.Second), CommittedAt: at, DeliveredAt: at.Add(15 * time.Millisecond), StartedAt: at.Add(20 * time.Millisecond), FinishedAt: at.Add(2 * time.Second), Instance: "bench", Delivery: 1, Status: status,
		})
		if len(updates) == batch {
			if err := flush(i); err != nil {
				return "", err
			}
		}
	}
	live := job.FireRunID(benchJob(0), from.UnixMilli(), job.CauseSchedule)
	updates = append(updates, logstore.Update{
		Kind: runlog.KindStarted, RunID: live, Job: benchJob(0), Version: 1, Attempt: 1, Cause: job.CauseSchedule, At: from, CommittedAt: from, StartedAt: from, Instance: "bench", Delivery: 1,
	})
	return live, flush(runs)
}

// benchRunAt returns when a run of seedRuns fired: they are a tenth of a second apart.
func benchRunAt(i, runs int, from time.Time) time.Time {
	return from.Add(-time.Duration(runs-i) * 100 * time.Millisecond)
}

// apiBench is an API to be measured.
type apiBench struct {
	server *webapi.Server
	addr   string
	client *http.Client
	stop   func() error
}

func (w *benchWorld) startAPI(ctx context.Context, store logstore.Store, streams int) (*apiBench, error) {
	server, err := webapi.New(w.conn, store, webapi.Config{Addr: "127.0.0.1:0", Local: true, MaxStreams: streams, Grace: time.Second})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	b := &apiBench{server: server, stop: func() error { cancel(); return <-done }, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, MaxConnsPerHost: 256}}}
	select {
	case <-server.Listening():
	case err := <-done:
		return nil, errors.Join(err, errors.New("the API did not start"))
	}
	b.addr = server.Addr().String()
	return b, poll(ctx, func() (bool, error) { return b.get(ctx, "/readyz") == nil, nil })
}

// get sends a request, and returns nil if the answer is 200.
func (b *apiBench) get(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+path, nil)
	if err != nil {
		return err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}

// answered is how long a request took, in milliseconds.
type answered struct {
	ms     float64 // from when it was to be sent
	served float64 // from when it was
}

// requestTimes is how long requests of a kind took: from when they were to be sent, and,
// as served, from when they were.
type requestTimes struct {
	Request   string  `json:"request"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Max       float64 `json:"max_ms"`
	ServedP50 float64 `json:"served_p50_ms"`
	ServedP99 float64 `json:"served_p99_ms"`
	ServedMax float64 `json:"served_max_ms"`
}

// spread returns the median, the 99th percentile and the most of ms, which it sorts.
func spread(ms []float64) (p50, p99, most float64) {
	slices.Sort(ms)
	return ms[len(ms)/2], ms[len(ms)*99/100], ms[len(ms)-1]
}

// apiRequests is the kinds of requests, and the path of each with something chosen by n.
var apiRequests = []struct {
	what string
	path func(o benchOptions, from time.Time, n int) string
}{
	{"jobs", func(benchOptions, time.Time, int) string { return "/api/v1/jobs?limit=50" }},
	{"jobs by text", func(o benchOptions, _ time.Time, n int) string {
		return "/api/v1/jobs?limit=20&q=job-" + strconv.Itoa(n%o.jobs)
	}},
	{"job", func(o benchOptions, _ time.Time, n int) string {
		return "/api/v1/jobs/bench/job-" + strconv.Itoa(n%o.jobs)
	}},
	{"runs", func(benchOptions, time.Time, int) string { return "/api/v1/runs?limit=50" }},
	{"runs of a job", func(o benchOptions, _ time.Time, n int) string {
		return "/api/v1/runs?limit=20&job=" + string(benchJob(n%o.jobs))
	}},
	{"runs that failed", func(benchOptions, time.Time, int) string { return "/api/v1/runs?limit=20&status=failed" }},
	{"run", func(o benchOptions, from time.Time, n int) string {
		i := n % o.runs
		return "/api/v1/runs/" + string(job.FireRunID(benchJob(i%o.jobs), benchRunAt(i, o.runs, from).UnixMilli(), job.CauseSchedule))
	}},
}

// load sends requests of each kind in turn at a fixed rate, and returns how long each took,
// and how many were not answered well.
func (b *apiBench) load(ctx context.Context, o benchOptions, from time.Time) (answers []answered, bad int, err error) {
	total := max(len(apiRequests), int(float64(o.rate)*o.runFor.Seconds()))
	answers = make([]answered, total)
	var failed atomic.Int64
	var first atomic.Pointer[error]
	var sent sync.WaitGroup
	begin := time.Now()
	for i := range total {
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
		if err := pause.For(ctx, time.Until(due)); err != nil {
			return nil, 0, err
		}
		path := apiRequests[i%len(apiRequests)].path(o, from, rand.Int()) //nolint:gosec // any will do
		sent.Go(func() {
			began := time.Now()
			if err := b.get(ctx, path); err != nil {
				failed.Add(1)
				first.CompareAndSwap(nil, &err)
			}
			answers[i] = answered{ms: milliseconds(time.Since(due)), served: milliseconds(time.Since(began))}
		})
	}
	sent.Wait()
	if e := first.Load(); e != nil && int(failed.Load()) == total {
		return nil, 0, *e
	}
	return answers, int(failed.Load()), nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// streams opens live tails, and returns what they cost in memory in MB: in this process,
// which has the other ends of the connections too.
func (b *apiBench) streams(ctx context.Context, run job.RunID, n int) (float64, error) {
	conns := make([]net.Conn, n)
	hangUp := sync.OnceFunc(func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	})
	defer hangUp()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for i := range conns {
		g.Go(func() (err error) {
			var d net.Dialer
			if conns[i], err = d.DialContext(gctx, "tcp", b.addr); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(conns[i], "GET /api/v1/runs/%s/logs/tail HTTP/1.1\r\nHost: %s\r\n\r\n", run, b.addr); err != nil {
				return err
			}
			status, err := bufio.NewReaderSize(conns[i], 16).ReadString('\n')
			if err == nil && !strings.Contains(status, " 200 ") {
				err = fmt.Errorf("stream %d: %s", i, strings.TrimSpace(status))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	// What is left without them was there before: the load's leftovers go little by little.
	with := memoryInUse()
	hangUp()
	if err := pause.For(ctx, streamsGone); err != nil {
		return 0, err
	}
	return with - memoryInUse(), nil
}

// streamsGone is how long streams may take to notice that nobody reads them any more.
const streamsGone = 20 * time.Second

// memoryInUse returns what live objects and stacks take, in MB.
func memoryInUse() float64 {
	runtime.GC()
	runtime.GC() // the first leaves what has finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc+m.StackInuse) / 1e6
}
