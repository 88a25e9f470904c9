package webapi

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// diagnosticHandlers answer requests for the diagnostics bundle.
type diagnosticHandlers struct {
	system    *systemHandlers
	groups    *groupHandlers
	conn      *cluster.Conn
	store     logstore.Store
	retention job.Retention
	version   string
	settings  map[string]string   // of the process, without secrets
	profiles  bool                // stacks of goroutines may be told
	gatherer  prometheus.Gatherer // of the process's metrics
	log       *slog.Logger
}

// partTimeout is how long a part of the diagnostics may take. What cannot be had is left out: the
// bundle is asked for when something is wrong.
const partTimeout = 5 * time.Second

// aboutBundle is in the bundle, for whoever opens it.
const aboutBundle = `What a server of Carillon knew of itself and of its cluster when this was made.

version.json      the program, and what it runs on
settings.json     the settings of this server, without secrets
health.json       which parts answer
cluster.json      what was fixed when the cluster was made
hold.json         whether everything is paused
nodes.json        scheduler nodes, the shards that each has, and who does what only one does
groups.json       executor groups and their instances
bus.json          streams and consumers in NATS
history.json      how far the log store is behind
store.json        how much there is in the log store
retention.json    how long history is kept
metrics.txt       the metrics of this server
goroutines.txt    what each goroutine does, if the server was started with --pprof

What could not be had is told in a file that ends in .error.txt.

There are no secrets in here, no documents of jobs, no parameters and no lines of logs. There are names of
executor groups, nodes, hosts and handlers, and labels of instances.
`

// part is a file of the diagnostics.
type part struct {
	file string
	make func(ctx context.Context) (any, error)
}

// CollectDiagnostics answers POST /diagnostics.
func (h *diagnosticHandlers) CollectDiagnostics(ctx context.Context, _ CollectDiagnosticsRequestObject) (*archive, error) {
	now := time.Now().UTC()
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	add := func(file string, write func(io.Writer) error) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file, Method: zip.Deflate, Modified: now})
		if err == nil {
			err = write(w)
		}
		if err != nil {
			return fmt.Errorf("write %s of diagnostics: %w", file, err)
		}
		return nil
	}
	say := func(file, text string) error {
		return add(file, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	if err := say("README.txt", aboutBundle); err != nil {
		return nil, err
	}
	for _, p := range h.parts() {
		value, err := h.partOf(ctx, p)
		if err != nil {
			h.log.WarnContext(ctx, "part of diagnostics left out", "part", p.file, "error", err)
			err = say(p.file+".error.txt", problem.Of(err, "").Detail+"\n")
		} else {
			err = add(p.file+".json", func(w io.Writer) error {
				e := json.NewEncoder(w)
				e.SetIndent("", "  ")
				return e.Encode(value)
			})
		}
		if err != nil {
			return nil, err
		}
	}
	if err := add("metrics.txt", h.writeMetrics); err != nil {
		return nil, err
	}
	if h.profiles {
		if err := add("goroutines.txt", func(w io.Writer) error { return pprof.Lookup("goroutine").WriteTo(w, 2) }); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write diagnostics: %w", err)
	}
	return &archive{Name: "carillon-diagnostics-" + now.Format("20060102T150405Z") + ".zip", Data: data.Bytes()}, nil
}

func (h *diagnosticHandlers) partOf(ctx context.Context, p part) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, partTimeout)
	defer cancel()
	return p.make(ctx)
}

// began is when the process did, as near as it can tell.
var began = time.Now().UTC()

// parts returns the files that are JSON.
func (h *diagnosticHandlers) parts() []part {
	return []part{
		{"version", func(context.Context) (any, error) {
			host, err := os.Hostname()
			return map[string]any{
				"version": h.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "host": host,
				"cpus": runtime.NumCPU(), "gomaxprocs": runtime.GOMAXPROCS(0), "goroutines": runtime.NumGoroutine(),
				"started_at": began, "at": time.Now().UTC(),
			}, err
		}},
		{"settings", func(context.Context) (any, error) { return h.settings, nil }},
		{"health", func(ctx context.Context) (any, error) { return h.system.health(ctx), nil }},
		{"cluster", func(context.Context) (any, error) { return h.conn.Cluster(), nil }},
		{"pause", func(ctx context.Context) (any, error) { return h.conn.Pauses().Get(ctx, "") }},
		{"nodes", func(ctx context.Context) (any, error) { return h.groups.ListNodes(ctx, ListNodesRequestObject{}) }},
		{"groups", func(ctx context.Context) (any, error) { return h.groups.ListGroups(ctx, ListGroupsRequestObject{}) }},
		{"bus", func(ctx context.Context) (any, error) { return h.groups.GetBus(ctx, GetBusRequestObject{}) }},
		{"history", func(ctx context.Context) (any, error) { return h.system.GetHistory(ctx, GetHistoryRequestObject{}) }},
		{"store", func(ctx context.Context) (any, error) {
			stats, err := h.store.Stats(ctx)
			return stats, problem.StoreAway(err)
		}},
		{"retention", func(ctx context.Context) (any, error) {
			entry, err := h.conn.Retention().Get(ctx, h.retention)
			if err != nil {
				return nil, err
			}
			return retentionItem(entry), nil
		}},
	}
}

// writeMetrics writes what GET /metrics has. One that cannot be gathered keeps no other back.
func (h *diagnosticHandlers) writeMetrics(w io.Writer) error {
	families, err := h.gatherer.Gather()
	if err != nil {
		h.log.Warn("metrics gathered in part", "error", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("write metric %s: %w", f.GetName(), err)
		}
	}
	return nil
}
