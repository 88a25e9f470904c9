package callout_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster"
)

// logged is a log that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// admissions returns how many connections had a result.
func admissions(t *testing.T, reg *prometheus.Registry, result string) int {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == "carillon_nats_connections_total" && m.GetLabel()[0].GetValue() == result {
				return int(m.GetCounter().GetValue())
			}
		}
	}
	return 0
}

func TestAGroupHasNoMoreConnectionsThanItsLimit(t *testing.T) {
	w := newWorld(t)
	log, reg := &logged{}, prometheus.NewRegistry()
	w.serveWith(callout.Config{Connections: 3, Logger: slog.New(slog.NewTextHandler(log, nil)), Registerer: reg})
	seeds := map[string]string{}
	for name, group := range map[string]string{"one": "alpha", "two": "alpha", "other": "beta"} {
		_, seed, err := w.users.Credentials().Create(t.Context(), group, name, "ann", 0)
		w.check(err)
		seeds[name] = seed
	}
	open := []*cluster.Conn{w.connect(seeds["one"], "alpha"), w.connect(seeds["one"], "alpha"), w.connect(seeds["two"], "alpha")}
	w.refused(seeds["one"], "alpha")
	w.refused(seeds["two"], "alpha")
	w.connect(seeds["other"], "beta")
	if n := admissions(t, reg, "too_many"); n != 2 {
		t.Errorf("%d connections are counted as too many, want 2", n)
	}
	const why = "group alpha has 3 connections, as many as --group-connections allows"
	if !strings.Contains(log.String(), why) {
		t.Errorf("the log does not say why:\n%s", log)
	}
	open[0].NC.Close()
	w.connect(seeds["two"], "alpha") // as soon as the end of the other is known
}

// Whoever has a credential can connect as often as they like, and must not fill the log by it.
func TestConnectionsOfACredentialAreLoggedAtEachDoubling(t *testing.T) {
	w := newWorld(t)
	log := &logged{}
	w.serveWith(callout.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "one", "ann", 0)
	w.check(err)
	for range 9 {
		w.connect(seed, "alpha").NC.Close()
	}
	if n := strings.Count(log.String(), "executor admitted"); n != 4 || !strings.Contains(log.String(), "times=8") {
		t.Errorf("%d lines of 9 connections, want those of 1, 2, 4 and 8:\n%s", n, log)
	}
}

// What other servers admit is known with the next sweep.
func TestConnectionsThatAnotherServerHasAdmittedAreCountedAndTheYoungestClosed(t *testing.T) {
	w := newWorld(t)
	stop := w.serve()
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "one", "ann", 0)
	w.check(err)
	firstCut, heardFirst := cuts()
	w.connect(seed, "alpha", heardFirst)
	w.connect(seed, "alpha", heardFirst)
	lastCut, heardLast := cuts()
	w.connect(seed, "alpha", heardLast)
	stop()
	w.serveWith(callout.Config{Connections: 2})
	w.until("the youngest", lastCut)
	w.refused(seed, "alpha")
	select {
	case <-firstCut:
		t.Error("an older connection was closed")
	default:
	}
}

// Whoever reaches the port can try as many keys as they like, and must not fill the log by it.
func TestConnectionsWithKeysThatNobodyKnowsAreLoggedAtEachDoubling(t *testing.T) {
	w := newWorld(t)
	log, reg := &logged{}, prometheus.NewRegistry()
	w.serveWith(callout.Config{Logger: slog.New(slog.NewTextHandler(log, nil)), Registerer: reg})
	for admissions(t, reg, "refused") < 9 { // NATS does not ask about all that it refuses
		pair, err := nkeys.CreateUser()
		w.check(err)
		seed, err := pair.Seed()
		w.check(err)
		if w.dial(string(seed), "alpha") == nil {
			t.Error("a key that nobody knows is admitted")
		}
	}
	if n := strings.Count(log.String(), "connection to NATS refused"); n != 4 || !strings.Contains(log.String(), "times=8") {
		t.Errorf("%d lines of 9 connections, want those of 1, 2, 4 and 8:\n%s", n, log)
	}
}
