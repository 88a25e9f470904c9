package sdk_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
)

// shrink has NATS, which is away, come back with a smaller max_payload.
func (w *world) shrink() {
	w.t.Helper()
	w.broker.Configure("max_payload: 8MB", "max_payload: 32KB")
	w.broker.Start()
}

// shrinkDuringARun takes NATS away in the second second of a run, for five, and gives it a minute after that.
func (w *world) shrinkDuringARun() *bus.Trigger {
	w.t.Helper()
	tr := w.trigger()
	time.Sleep(time.Second)
	w.broker.Stop()
	time.Sleep(5 * time.Second)
	w.shrink()
	time.Sleep(time.Minute)
	return tr
}

// prints writes lines of 300 bytes or so.
func prints(run *executor.Run, lines int) {
	for i := range lines {
		_, _ = fmt.Fprintln(run.Stdout(), i+1, strings.Repeat("x", 300))
	}
}

// large is a result that does not fit into the smaller max_payload.
var large = strings.Repeat("r", 60<<10)

// wantLines checks that LOG has so many lines of a run, each in its place.
func (w *world) wantLines(id job.RunID, want int) {
	w.t.Helper()
	lines := map[int64]string{} // a batch may come twice: its acknowledgement can be lost
	for _, line := range w.lines(id) {
		lines[line.Seq] = line.Text
	}
	for i := range want {
		if got := lines[int64(i)+1]; !strings.HasPrefix(got, fmt.Sprintf("%d xxx", i+1)) {
			w.t.Fatalf("line %d of %d is %.20q", i+1, want, got)
		}
	}
}

func TestARunOutlivesASmallerMaxPayloadOfNATS(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, reg := newWorld(t), prometheus.NewRegistry()
		w.start("a", executor.Config{Observers: []executor.NewObserver{metrics.Prometheus(reg)}}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			time.Sleep(2 * time.Second)
			prints(run, 750)
			time.Sleep(8 * time.Second)
			return large, nil
		}))
		tr := w.shrinkDuringARun()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "max_payload of NATS")
		w.wantLines(tr.RunID, 750)
		if n := counted(t, reg, "carillon_executor_log_lines_dropped_total"); n != 0 {
			t.Errorf("%v lines are counted as dropped", n)
		}
		w.wantTriggers(0)
	})
}

func TestAnEndOutlivesASmallerMaxPayloadOfNATS(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, handler(func(context.Context, *executor.Run) (any, error) {
			time.Sleep(2 * time.Second)
			return large, nil
		}))
		tr := w.shrinkDuringARun()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "max_payload of NATS")
		w.wantTriggers(0)
	})
}

func TestLinesThatAreStoredDoNotCountAsDropped(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, reg := newWorld(t), prometheus.NewRegistry()
		stream, err := w.conn.JS.Stream(t.Context(), bus.StreamLog)
		if err != nil {
			t.Fatal(err)
		}
		cfg := stream.CachedInfo().Config
		cfg.MaxMsgs, cfg.Discard = 2, jetstream.DiscardNew
		if _, err := w.conn.JS.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the world has its consumers
		w.broker.Stop()
		w.shrink()
		time.Sleep(10 * time.Second)
		w.start("a", executor.Config{Observers: []executor.NewObserver{metrics.Prometheus(reg)}}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			prints(run, 200)
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Minute)
		stored, dropped := len(w.lines(tr.RunID)), counted(t, reg, "carillon_executor_log_lines_dropped_total")
		if stored == 0 || stored+int(dropped) != 200 {
			t.Errorf("%d lines are stored, and %v are counted as dropped, of 200", stored, dropped)
		}
	})
}

func TestTheNextProcessReportsWhatASmallerMaxPayloadWouldNotTake(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), t.TempDir(), &counter{}
		next := w.opened("next")
		a := w.start("a", spooling(dir), handler(func(_ context.Context, run *executor.Run) (any, error) {
			time.Sleep(2 * time.Second)
			prints(run, 150)
			return large, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		w.broker.Stop()
		time.Sleep(20 * time.Second)
		a.stop()
		wantFiles(t, dir, ".json")
		w.shrink()
		w.startOn(next, "a", spooling(dir), handler(c.sleeper(time.Second)))
		time.Sleep(time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "max_payload of NATS")
		w.wantLines(tr.RunID, 150)
		w.wantTriggers(0)
		wantFiles(t, dir)
	})
}

func TestASpoolFileThatNATSCannotTakeIsPutAside(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), t.TempDir(), &counter{}
		end, err := json.Marshal(bus.Event{Kind: bus.EventFinished, Job: "g/a", Text: large})
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{
			"end.json":   `{"format":1,"group":"g","end":{"subject":"evt.0.g","data":"` + base64.StdEncoding.EncodeToString(end) + `"}}`,
			"lines.json": `{"format":1,"group":"g","lines":[{"subject":"log.g.019b8be1-f500-746c-9285-f6b4613a1707","header":{"Carillon-Message":["log.v1"]},"data":"` + strings.Repeat("AAAA", 20_000) + `"}]}`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // the world has its consumers
		w.broker.Stop()
		w.shrink()
		time.Sleep(10 * time.Second)
		w.start("a", spooling(dir), handler(c.sleeper(time.Second)))
		tr := w.trigger()
		time.Sleep(5 * time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		wantFiles(t, dir, ".json.refused", ".json.refused")
	})
}
