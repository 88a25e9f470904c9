package sdk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
)

// spooling is the configuration of an executor that keeps what it cannot report in dir.
func spooling(dir string) executor.Config {
	return executor.Config{Spool: dir, Grace: -1, Patience: time.Second}
}

// wantFiles checks the names' endings in a spool, its lock aside.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		if _, ending, found := strings.Cut(entry.Name(), ".json"); found {
			got = append(got, ".json"+ending)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

func (w *world) texts(id job.RunID) string {
	w.t.Helper()
	var texts []string
	for _, line := range w.lines(id) {
		texts = append(texts, line.Text)
	}
	return strings.Join(texts, ", ")
}

// endsAway runs a handler that ends, with lines, a second after NATS has gone away, and
// stops its executor 20 s later.
func (w *world) endsAway(c *counter, cfg executor.Config, lines int) job.RunID {
	w.t.Helper()
	a := w.start("a", cfg, handler(func(ctx context.Context, run *executor.Run) (any, error) {
		c.enter()
		defer c.leave()
		run.Log().InfoContext(ctx, "before")
		time.Sleep(2 * time.Second)
		for i := range lines {
			_, _ = fmt.Fprintln(run.Stdout(), "away", i+1)
		}
		return map[string]int{"rows": 7}, nil
	}))
	tr := w.trigger()
	time.Sleep(time.Second)
	w.broker.Stop()
	time.Sleep(20 * time.Second)
	a.stop()
	return tr.RunID
}

func TestWhatEndsWhileNATSIsAwayIsReportedByTheNextProcess(t *testing.T) {
	for _, back := range []time.Duration{0, time.Minute} { // after the next process has started
		bustest.Run(t, began, func(t *testing.T) {
			w, dir, c := newWorld(t), filepath.Join(t.TempDir(), "spool"), &counter{}
			next := w.opened("next")
			id := w.endsAway(c, spooling(dir), 2)
			wantFiles(t, dir, ".json")
			if back == 0 {
				w.broker.Start()
				time.Sleep(10 * time.Second)
			}
			w.startOn(next, "a", spooling(dir), handler(c.sleeper(time.Second)))
			time.Sleep(back)
			if back > 0 {
				w.broker.Start()
			}
			time.Sleep(2 * time.Minute)
			w.wantStatus(id, job.StatusSucceeded, "")
			if got := string(w.finished(id).Result); got != `{"rows":7}` {
				t.Errorf("result %s", got)
			}
			if got := w.texts(id); got != "before, away 1, away 2" {
				t.Errorf("lines %q", got)
			}
			if c.total() != 1 {
				t.Errorf("the handler ran %d times", c.total())
			}
			w.wantTriggers(0)
			wantFiles(t, dir)
		})
	}
}

func TestAnEndThatIsStoredAfterAllLeavesNoFile(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), t.TempDir(), &counter{}
		w.start("a", spooling(dir), handler(c.sleeper(2*time.Second)))
		tr := w.trigger()
		time.Sleep(time.Second)
		w.broker.Stop()
		time.Sleep(time.Minute)
		wantFiles(t, dir, ".json")
		w.broker.Start()
		time.Sleep(time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		wantFiles(t, dir)
	})
}

func TestASpoolWithoutRoomKeepsTheEndAndCountsTheLines(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), t.TempDir(), &counter{}
		cfg := spooling(dir)
		cfg.SpoolBytes = 4 << 10
		next := w.opened("next")
		id := w.endsAway(c, cfg, 500)
		w.startOn(next, "a", cfg, handler(c.sleeper(time.Second)))
		w.broker.Start()
		time.Sleep(2 * time.Minute)
		w.wantStatus(id, job.StatusSucceeded, "")
		if got := w.texts(id); got != "before, 500 lines were dropped here: NATS was away, and the executor's spool had no room for them" {
			t.Errorf("lines %q", got)
		}
		wantFiles(t, dir)
	})
}

func TestASpoolFileThatCannotBeReadIsPutAside(t *testing.T) {
	for name, content := range map[string]string{
		"cut":           `{"format":1,"gro`,
		"newer":         `{"format":2,"group":"g"}`,
		"another group": `{"format":1,"group":"other","end":{"subject":"evt.0.other","data":"e30="}}`,
		"a request":     `{"format":1,"group":"g","end":{"subject":"hand.g","data":"e30="}}`,
		"too large":     `{"format":1,"group":"g","end":{"subject":"evt.0.g","data":"` + strings.Repeat("AAAA", 400_000) + `"}}`,
		"a condition":   `{"format":1,"group":"g","end":{"subject":"evt.0.g","header":{"Nats-Expected-Stream":["X"]},"data":"e30="}}`,
		"a bad subject": `{"format":1,"group":"g","lines":[{"subject":"log.g.x y","data":"e30="}]}`,
		"no log":        `{"format":1,"group":"g","lines":[{"subject":"evt.0.g","data":"e30="}]}`,
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w, dir, c := newWorld(t), t.TempDir(), &counter{}
			if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			a := w.start("a", spooling(dir), handler(c.sleeper(time.Second)))
			tr := w.trigger()
			time.Sleep(5 * time.Second)
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
			wantFiles(t, dir, ".json.refused")
			a.stop()
			if !strings.Contains(a.log.String(), "put aside") {
				t.Errorf("%s: the executor said nothing of it", name)
			}
		})
	}
}

func TestTwoExecutorsDoNotShareASpool(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), t.TempDir(), &counter{}
		w.start("a", spooling(dir), handler(c.sleeper(time.Second)))
		cfg := spooling(dir)
		cfg.Group, cfg.Instance = "g", "b"
		b, err := executor.New(w.connect("b").Conn, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another executor uses this folder") {
			t.Errorf("error %v", err)
		}
	})
}

// keepsOn returns a handler that prints lines after two seconds, ignores its context, and has not ended when its
// executor does.
func keepsOn(lines int, until <-chan struct{}) executor.HandlerFunc {
	return func(_ context.Context, run *executor.Run) (any, error) {
		time.Sleep(2 * time.Second)
		for i := range lines {
			_, _ = fmt.Fprintln(run.Stdout(), "line", i+1)
		}
		_, _ = fmt.Fprint(run.Stdout(), "half a line")
		<-until
		return nil, nil
	}
}

func longGrace(t *bus.Trigger) { t.KillGrace = job.Duration(time.Hour) }

func TestLinesOfARunThatAStopInterruptsReachTheLog(t *testing.T) {
	for _, away := range []bool{false, true} {
		bustest.Run(t, began, func(t *testing.T) {
			w, dir, c := newWorld(t), t.TempDir(), &counter{}
			next := w.opened("next")
			over := make(chan struct{})
			defer close(over)
			cfg := spooling(dir)
			cfg.Observers = []executor.NewObserver{metrics.Prometheus(prometheus.NewRegistry())}
			a := w.start("a", cfg, handler(keepsOn(2, over)))
			tr := w.trigger(longGrace)
			time.Sleep(time.Second)
			if away {
				w.broker.Stop()
			}
			time.Sleep(5 * time.Second)
			a.stop()
			if away {
				wantFiles(t, dir, ".json")
				w.broker.Start()
				w.startOn(next, "b", spooling(dir), handler(c.sleeper(time.Second)))
				time.Sleep(time.Minute)
			}
			wantFiles(t, dir)
			got := w.texts(tr.RunID)
			if !strings.HasPrefix(got, "line 1, line 2, half a line, the executor is stopping") {
				t.Errorf("away %v: lines %q", away, got)
			}
		})
	}
}

func TestLinesThatAStopLosesAreCounted(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} { // without a spool, and with one that is full
		bustest.Run(t, began, func(t *testing.T) {
			w, reg := newWorld(t), prometheus.NewRegistry()
			over := make(chan struct{})
			defer close(over)
			cfg := spooling(dir)
			cfg.SpoolBytes, cfg.Observers = 1, []executor.NewObserver{metrics.Prometheus(reg)}
			a := w.start("a", cfg, handler(keepsOn(10, over)))
			w.trigger(longGrace)
			time.Sleep(time.Second)
			w.broker.Stop()
			time.Sleep(5 * time.Second)
			a.stop()
			w.broker.Start()
			if got := counted(t, reg, "carillon_executor_log_lines_dropped_total"); got != 12 { // with the half line, and that it was given back
				t.Errorf("%v lines are counted as dropped", got)
			}
		})
	}
}

// counted returns the value of a counter.
func counted(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func TestWhatCannotBeASpoolIsRefusedByItsName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		file:                         "open spool " + file + ": it is a file; name a folder",
		filepath.Join(file, "spool"): "open spool " + file + "/spool: ",
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			cfg := spooling(dir)
			cfg.Group, cfg.Instance = "g", "a"
			e, err := executor.New(w.connect("a").Conn, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}
