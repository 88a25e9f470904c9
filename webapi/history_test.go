package webapi

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

func TestTheHistoryTellsHowFarItHasCome(t *testing.T) {
	w := newWorld(t)
	w.history(begun("billing/x", noon))
	before := time.Now().UTC()
	state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	if state.AsOf.Before(before.Truncate(time.Millisecond)) || !state.StoreAnswers || state.Bytes <= 0 || !state.OldestRun.Equal(noon) || len(state.Backlog) != 6 || state.DiskBytes <= state.DiskFreeBytes || state.DiskFreeBytes <= 0 {
		t.Errorf("with nothing to do the state is %+v", state)
	}
	// Nobody ingests here, so what is published waits.
	l := &bus.Log{RunID: job.NewRunID(noon), Job: "billing/x", Attempt: 1, Instance: "w", Lines: []bus.LogLine{{Seq: 1, At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "x"}}}
	m, err := bustest.Log(w.conn.Tokens(), l)
	w.check(err)
	ack, err := w.conn.JS.PublishMsg(t.Context(), m)
	w.check(err)
	stored := time.Now().UTC()
	for range 2 {
		state, _ = want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	}
	if b := state.Backlog[2]; b.Stream != ack.Stream || b.Messages != 1 || b.Since.Before(before.Add(-time.Second)) || b.Since.After(stored) || !state.AsOf.Equal(b.Since) {
		t.Errorf("with a message that waits since %s the state is %+v", stored, state)
	}
}

func TestTheHistoryTellsWhenItWillHaveCaughtUp(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "api", shards)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		h := &systemHandlers{conn: conn, store: store, log: slog.New(slog.DiscardHandler)}
		for i := range 30 { // nobody ingests here
			l := &bus.Log{RunID: job.NewRunID(noon), Job: "billing/x", Attempt: 1, Instance: "w", Lines: []bus.LogLine{{Seq: int64(i + 1), At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "x"}}}
			m, err := bustest.Log(conn.Tokens(), l)
			if err == nil {
				_, err = conn.JS.PublishMsg(t.Context(), m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string, measured map[string]float64, left time.Duration) {
			t.Helper()
			if measured != nil {
				if err := conn.Ingest().PutPace(t.Context(), &cluster.IngestPace{At: time.Now(), PerSecond: measured}); err != nil {
					t.Fatal(err)
				}
			}
			state, err := h.GetHistory(t.Context(), GetHistoryRequestObject{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			want := time.Time{}
			if left > 0 {
				want = time.Now().Add(left)
			}
			if off := state.CaughtUpAt.Sub(want).Abs(); off > time.Second || (state.Backlog[2].PerSecond > 0) != (left > 0) {
				t.Errorf("%s: it will have caught up at %s, with %+v; want %s", what, state.CaughtUpAt, state.Backlog, want)
			}
		}
		check("nobody has measured", nil, 0)
		check("it is being written", map[string]float64{bus.StreamLog: 2}, 0)
		time.Sleep(2 * time.Minute)
		check("measured long ago", nil, 0)
		check("it shrinks", map[string]float64{bus.StreamLog: 2}, 15*time.Second)
		check("it does not shrink", map[string]float64{bus.StreamEvt: 2}, 0)
	})
}

func TestTheHistoryTellsThatTheStoreIsAway(t *testing.T) {
	w := newWorld(t)
	w.check(w.store.Close())
	state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	if state.StoreAnswers || state.Bytes != 0 || state.AsOf.IsZero() {
		t.Errorf("the state is %+v", state)
	}
}

func TestTheHistoryTellsWhatTheStreamsThatAnswerSay(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, broker, "api", cluster.Assets{Shards: shards, Partitions: 3})
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		h := &systemHandlers{conn: conn, store: store, log: slog.New(slog.DiscardHandler)}
		if err := conn.Ingest().PutPace(t.Context(), &cluster.IngestPace{At: noon.Add(time.Minute), PerSecond: map[string]float64{bus.StreamLog: 1}}); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.JS.Publish(t.Context(), "log.billing.x", nil); err != nil { // nobody ingests here
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		broker.Silence("TRIG1")
		asked := time.Now()
		state, err := h.GetHistory(t.Context(), GetHistoryRequestObject{})
		if err != nil {
			t.Fatal(err)
		}
		var silent []string
		waiting := map[string]uint64{}
		for _, b := range state.Backlog {
			if b.Unavailable {
				silent = append(silent, b.Stream)
			}
			waiting[b.Stream] = b.Messages
		}
		if len(silent) != 1 || silent[0] != "TRIG1" || len(state.Backlog) != 10 || waiting[bus.StreamLog] != 1 || !state.AsOf.Equal(noon) || !state.CaughtUpAt.IsZero() {
			t.Errorf("%+v", state)
		}
		if took := time.Since(asked); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
