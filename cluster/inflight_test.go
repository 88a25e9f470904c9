package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// That a write of a key is in flight does not mean that the key exists: the write may get lost.
func TestAKeyIsCreatedAfterAWriteInFlightThatGetsLost(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.meetsWritesInFlight()
		f := outcome.Finding{Job: "billing/report", RunID: job.NewRunID(time.Now())}
		if isNew, err := conn.Findings().Put(w.t.Context(), &f); err != nil || !isNew {
			w.t.Errorf("the finding is new: %t, %v", isNew, err)
		}
		if all, err := w.conn.Findings().All(w.t.Context()); err != nil || len(all) != 1 {
			w.t.Errorf("%d findings are stored, %v", len(all), err)
		}
		if isNew, err := conn.Findings().Put(w.t.Context(), &f); err != nil || isNew {
			w.t.Errorf("the second time the finding is new: %t, %v", isNew, err)
		}
		if err := conn.Restore().Begin(w.t.Context(), "backup"); err != nil {
			w.t.Error(err)
		}
		if backup, err := w.conn.Restore().Running(w.t.Context()); err != nil || backup != "backup" {
			w.t.Errorf("the restore of %q has begun, %v", backup, err)
		}
	})
}

// meetsWritesInFlight returns a connection whose first write of each key is refused as by a server whose
// replicas have yet to confirm another one, which then gets lost.
func (w *world) meetsWritesInFlight() *cluster.Conn {
	w.t.Helper()
	conn := clustertest.Connect(w.t, w.broker, "busy")
	var err error
	if conn.JS, err = jetstream.NewWithAPIPrefix(conn.NC, "BUSY"); err != nil {
		w.t.Fatal(err)
	}
	met := map[string]bool{}
	proxy, err := w.conn.NC.Subscribe("BUSY.>", func(m *nats.Msg) {
		to := strings.TrimPrefix(m.Subject, "BUSY.")
		switch isWrite := strings.HasPrefix(to, "$KV."); {
		case !isWrite:
			to = "$JS.API." + to
		case !met[to]:
			met[to] = true
			_ = m.Respond([]byte(`{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`))
			return
		}
		answer, err := w.conn.NC.RequestMsg(&nats.Msg{Subject: to, Header: m.Header, Data: m.Data}, time.Second)
		if err != nil {
			w.t.Errorf("%s: %v", to, err)
			return
		}
		_ = m.RespondMsg(&nats.Msg{Header: answer.Header, Data: answer.Data})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.NC.Flush(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = proxy.Unsubscribe() })
	return conn
}
