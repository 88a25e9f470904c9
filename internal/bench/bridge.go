package bench

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/admin"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// benchBridge is benchRun with executors of XXL-JOB behind a bridge. The executors, in this process, write
// one line for each run and report it at once. Their share is in the CPU.
func benchBridge(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.route = job.Route(o.route)
	history, err := sqlite.Open(ctx, filepath.Join(w.dir, "history.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = history.Close() }()
	store := &writtenStore{Store: history}
	parts, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 3+o.instances)
	if err := w.startBridge(parts, store, o.instances, ended); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs}
	if err := w.timeRuns(ctx, o, store, nil, r); err != nil {
		return nil, err
	}
	stop()
	return r, drain(ended)
}

// startBridge starts ingest, a bridge, and executors of XXL-JOB. Each sends to ended when it has.
func (w *benchWorld) startBridge(ctx context.Context, store logstore.Store, executors int, ended chan<- error) error {
	ingested, err := w.startIngest(ctx, store)
	if err != nil {
		return err
	}
	go func() { ended <- <-ingested }()
	bridged, err := w.connect(ctx, "bridge")
	if err != nil {
		return err
	}
	b, err := xxljob.New(bridged.Conn, xxljob.Config{Dial: (&net.Dialer{}).DialContext, Slots: slotsOf(executors)})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := admin.New(b, admin.Config{Tokens: admin.NoTokens(), Refuse: func(string) error { return nil }, Logger: slog.New(slog.DiscardHandler)}).Server()
	go func() { ended <- b.Run(ctx); bridged.NC.Close() }()
	go func() {
		<-ctx.Done()
		ended <- server.Close()
	}()
	go func() { _ = server.Serve(l) }() // ends with the line above
	client := &http.Client{Timeout: 10 * time.Second}
	for range executors {
		at, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		e := xxlstandin.New(xxlstandin.Config{AppName: "bench", Address: "http://" + at.Addr().String(), Admins: []string{"http://" + l.Addr().String()}, Client: client},
			map[string]xxlstandin.Handler{"noop": func(context.Context, xxlstandin.Run, func(string)) (string, error) { return "", nil }})
		go func() { ended <- e.Serve(ctx, at) }()
	}
	return nil
}
