package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/pflag"

	"carillon/bus"
	"carillon/job"
	"carillon/logstore/ingest"
	"carillon/logstore/sqlite"
	"carillon/scheduler"
	"carillon/webapi"
)

// defaultHTTP is where dev and server listen, and where the client looks for them.
const defaultHTTP = "127.0.0.1:8822"

// The roles of a server.
const (
	roleScheduler = "scheduler" // owns shards and fires
	roleStore     = "store"     // keeps history, in a file of its own
	roleAPI       = "api"       // serves the API and the console, from the store beside it
)

var allRoles = []string{roleScheduler, roleStore, roleAPI}

// nodeConfig says what a server is made of.
type nodeConfig struct {
	roles    []string
	http     string
	store    string // path of the SQLite file
	node     string
	lanes    int
	keepRuns time.Duration
	keepLogs time.Duration
}

func (c *nodeConfig) flags(f *pflag.FlagSet) {
	f.StringVar(&c.node, "node", "", "the node's `name`, unique in the cluster (default: host name and a random part)")
	f.IntVar(&c.lanes, "lanes", 2, "how many batches the scheduler may have under way at once")
	f.Var(durationFlag{&c.keepRuns, 30 * 24 * time.Hour}, "keep-runs", "how long history is kept, as in 30d")
	f.Var(durationFlag{&c.keepLogs, 7 * 24 * time.Hour}, "keep-logs", "how long log lines are kept, as in 7d")
}

// durationFlag is a flag that takes durations as job documents do, days included.
type durationFlag struct {
	to  *time.Duration
	def time.Duration
}

func (f durationFlag) String() string {
	if f.to == nil {
		return ""
	}
	if *f.to == 0 {
		*f.to = f.def
	}
	if *f.to%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", *f.to/(24*time.Hour))
	}
	return job.Duration(*f.to).String()
}

// Set implements [pflag.Value].
func (f durationFlag) Set(s string) error {
	d, err := job.ParseDuration(s)
	if err == nil && d <= 0 {
		err = &job.InvalidError{Reason: "must be more than zero"}
	}
	*f.to = d
	return err
}

// Type implements [pflag.Value].
func (durationFlag) Type() string { return "duration" }

func parseRoles(text string) ([]string, error) {
	roles := strings.Split(text, ",")
	for _, r := range roles {
		if !slices.Contains(allRoles, r) {
			return nil, &job.InvalidError{Field: "roles", Reason: fmt.Sprintf("%q must be a list of %s", text, strings.Join(allRoles, ", "))}
		}
	}
	if slices.Contains(roles, roleAPI) && !slices.Contains(roles, roleStore) {
		return nil, &job.InvalidError{Field: "roles", Reason: "has api without store: the API answers from the store beside it, so one server of a cluster has both"}
	}
	return roles, nil
}

// layers returns what the node runs on conn, and the API among it, or nil.
func (c nodeConfig) layers(ctx context.Context, conn *bus.Conn, log *slog.Logger) (layers []layer, api *webapi.Server, closeStore func() error, err error) {
	closeStore = func() error { return nil }
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if slices.Contains(c.roles, roleStore) {
		store, err := sqlite.Open(ctx, c.store)
		if err != nil {
			return nil, nil, closeStore, err
		}
		closeStore = store.Close
		in, err := ingest.New(conn, store, ingest.Config{Node: c.node, Logger: log.With("component", "ingest"), Metrics: reg})
		if err != nil {
			return nil, nil, closeStore, err
		}
		layers = append(layers,
			layer{"ingest", in.Run, 3 * time.Second},
			layer{"retention", func(ctx context.Context) error { return c.retain(ctx, store, log) }, time.Second})
		if slices.Contains(c.roles, roleAPI) {
			api, err = webapi.New(conn, store, webapi.Config{
				Addr: c.http, Version: version(), Registerer: reg, Gatherer: reg, Logger: log.With("component", "webapi"), Grace: 1500 * time.Millisecond,
			})
			if err != nil {
				return nil, nil, closeStore, err
			}
		}
	}
	if slices.Contains(c.roles, roleScheduler) {
		s, err := scheduler.New(conn, scheduler.Config{Node: c.node, Lanes: c.lanes, Version: version(), Logger: log, Registerer: reg})
		if err != nil {
			return nil, nil, closeStore, err
		}
		layers = append(layers, layer{"scheduler", s.Run, 3 * time.Second})
	}
	if api != nil {
		layers = append(layers, layer{"webapi", api.Run, 2 * time.Second})
	}
	return layers, api, closeStore, nil
}

// retain deletes history beyond its age every hour, until ctx is done.
func (c nodeConfig) retain(ctx context.Context, store *sqlite.Store, log *slog.Logger) error {
	cron, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(time.Second))
	if err != nil {
		return fmt.Errorf("start retention: %w", err)
	}
	_, err = cron.NewJob(gocron.DurationJob(time.Hour), gocron.NewTask(func() {
		now := time.Now()
		trimmed, err := store.Trim(ctx, now.Add(-c.keepRuns), now.Add(-c.keepLogs))
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "history not trimmed", "error", err)
		} else if trimmed.Runs+trimmed.Lines > 0 {
			log.InfoContext(ctx, "history trimmed", "runs", trimmed.Runs, "lines", trimmed.Lines)
		}
	}), gocron.WithSingletonMode(gocron.LimitModeReschedule), gocron.WithStartAt(gocron.WithStartImmediately()))
	if err != nil {
		return fmt.Errorf("plan retention: %w", err)
	}
	cron.Start()
	<-ctx.Done()
	if err := cron.Shutdown(); err != nil {
		return fmt.Errorf("stop retention: %w", err)
	}
	return nil
}

// version returns the program's version, from how it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "devel" {
			v += "-" + s.Value[:12]
		}
	}
	return v + " " + runtime.Version()
}

// tuneRuntime gives small machines more threads of Go code than cores: a lane that
// waits for one of two to be free is late.
func tuneRuntime() {
	if n := runtime.NumCPU(); n <= 4 && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(2 * n)
	}
}

// checkLoopback refuses an address that other machines can reach, before anything is
// started.
func checkLoopback(field, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be HOST:PORT, as in %s", addr, defaultHTTP)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be a loopback address: there is no sign-in, so whoever reached it could run programs", addr)}
	}
	return nil
}

func storePath(dir string) string { return filepath.Join(dir, "history.db") }
