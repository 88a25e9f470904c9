package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
)

// monitorOptions say where a process shows what it is like inside.
type monitorOptions struct {
	metrics, profile string
}

func (o *monitorOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.metrics, "metrics", "", "`address` of /metrics, /healthz and /readyz, without sign-in, for Prometheus and probes")
	f.StringVar(&o.profile, "pprof", "", "loopback `address` for Go profiles, such as 127.0.0.1:6060")
}

// check is a part of a process that has to work.
type check struct {
	name string
	ask  func(context.Context) error
}

// checkWithin is how long readiness waits for one part.
const checkWithin = 2 * time.Second

// layers returns what serves the options, having taken their addresses.
func (o *monitorOptions) layers(ctx context.Context, gather prometheus.Gatherer, alive func() error, ready []check, log *slog.Logger) ([]layer, error) {
	var list []layer
	add := func(name, addr string, h http.Handler) error {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", addr)
		if err != nil {
			return fmt.Errorf("listen on the address of --%s: %w", name, err)
		}
		log.InfoContext(ctx, "monitor listens", "what", name, "address", l.Addr().String())
		list = append(list, layer{name, func(ctx context.Context) error { return serveUntil(ctx, l, h) }, time.Second})
		return nil
	}
	if o.metrics != "" {
		if err := add("metrics", o.metrics, monitorHandler(gather, alive, ready)); err != nil {
			return nil, err
		}
	}
	if o.profile != "" {
		if err := checkLoopback("pprof", o.profile); err != nil {
			return nil, err
		}
		if err := add("pprof", o.profile, profileHandler()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// monitorHandler serves metrics and health.
func monitorHandler(gather prometheus.Gatherer, alive func() error, ready []check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(gather, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, map[string]error{"process": alive()})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		result := map[string]error{}
		for _, c := range ready {
			ctx, cancel := context.WithTimeout(r.Context(), checkWithin)
			result[c.name] = c.ask(ctx)
			cancel()
		}
		writeHealth(w, result)
	})
	return mux
}

// writeHealth tells which parts work, in the form of the API's own health.
func writeHealth(w http.ResponseWriter, parts map[string]error) {
	type part struct {
		Name   string `json:"name"`
		OK     bool   `json:"ok"`
		Detail string `json:"detail,omitempty"`
	}
	health := struct {
		Status string `json:"status"`
		Checks []part `json:"checks"`
	}{Status: "ok", Checks: []part{}}
	status := http.StatusOK
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := part{Name: name, OK: parts[name] == nil}
		if !p.OK {
			p.Detail, health.Status, status = parts[name].Error(), "unavailable", http.StatusServiceUnavailable
		}
		health.Checks = append(health.Checks, p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(health) // whoever asked is gone, if it cannot be written
}

func profileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// serveUntil serves until ctx is done, and then returns nil.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	return serveWith(ctx, l, &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second})
}

// serveWith is serveUntil with a server that is made already.
func serveWith(ctx context.Context, l net.Listener, server *http.Server) error {
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	err := server.Close()
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
