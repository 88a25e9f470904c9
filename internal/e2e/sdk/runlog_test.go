package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

func TestEverythingThatARunPrintsIsALineInOrder(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
			out, stderr := run.Stdout(), run.Stderr()
			_, _ = out.Write([]byte("one\r\n\ntw"))
			run.Log().With("table", "a b").WithGroup("n").InfoContext(ctx, "copied", "rows", 7)
			run.Log().DebugContext(ctx, "two\nlines")
			_, _ = stderr.Write([]byte("oops\n"))
			_, _ = out.Write([]byte("o\nrest without an end"))
			return nil, errors.New("bad")
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		got := w.lines(tr.RunID)
		at := got[0].At
		line := func(output bus.Output, level bus.Level, text string) bus.LogLine {
			return bus.LogLine{At: at, Output: output, Level: level, Text: text}
		}
		want := []bus.LogLine{
			line(bus.OutputStdout, bus.LevelInfo, "one"),
			line(bus.OutputStdout, bus.LevelInfo, ""),
			line(bus.OutputLog, bus.LevelInfo, `copied table="a b" n.rows=7`),
			line(bus.OutputLog, bus.LevelDebug, "two"),
			line(bus.OutputLog, bus.LevelDebug, "lines"),
			line(bus.OutputStderr, bus.LevelWarn, "oops"),
			line(bus.OutputStdout, bus.LevelInfo, "two"),
			line(bus.OutputStdout, bus.LevelInfo, "rest without an end"),
			line(bus.OutputSystem, bus.LevelError, "the run ended as failed: bad"),
		}
		for i := range want {
			want[i].Seq = int64(i + 1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		if n := w.finished(tr.RunID).LogLines; n != len(want) {
			t.Errorf("log_lines: %d, want %d", n, len(want))
		}
	})
}

func TestTheLastLineLeavesOutWhatTheRunHasPrinted(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var printed, fails string
		w.start("a", executor.Config{}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			_, _ = run.Stderr().Write([]byte(printed))
			return nil, errors.New(fails)
		}))
		want := func(prints, message, last string) {
			t.Helper()
			printed, fails = prints, message
			tr := w.trigger()
			time.Sleep(time.Second)
			lines := w.lines(tr.RunID)
			if got := lines[len(lines)-1].Text; got != last {
				t.Errorf("after %q and %q the last line is %q, want %q", prints, message, got, last)
			}
			if len(message) < bus.MaxMessage {
				w.wantStatus(tr.RunID, job.StatusFailed, message)
			}
		}
		want("", "no route: bank", "the run ended as failed: no route: bank")
		want("other\n", "no route: bank", "the run ended as failed: no route: bank")
		want("no route: bank\n", "exit code 1: no route: bank", "the run ended as failed: exit code 1")
		want("ERROR no route: bank\nbye", "no route: bank", "the run ended as failed")
		want("one\ntwo\n", "one\ntwo", "the run ended as failed")
		want("no route\n", "cannot pay; no route; stop", "the run ended as failed: cannot pay; no route; stop")
		want("a long line\n", "exit code 1: a long…", "the run ended as failed: exit code 1")
		want("all went badly\n15 rows\n", "bad: 5", "the run ended as failed: bad: 5")
		want("5 rows\n", "no slot: 5", "the run ended as failed: no slot: 5")
		want("early\n"+strings.Repeat("x\n", 10<<10), "early", "the run ended as failed: early")
		long := strings.Repeat("a: ", 1<<20) // to look for each of its parts would take minutes
		want("b\n", long, ("the run ended as failed: " + long)[:bus.MaxMessage-len("…")]+"…")
	})
}

func TestALineIsOnTheBusATenthOfASecondAfterItsEnd(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		live, err := w.conn.NC.SubscribeSync("log.g.*")
		if err != nil {
			t.Fatal(err)
		}
		w.start("a", executor.Config{}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			out := run.Stdout()
			for i := range 20 {
				_, _ = fmt.Fprintf(out, "line %d\n", i)
				time.Sleep(30 * time.Millisecond)
			}
			time.Sleep(time.Minute)
			_, _ = out.Write([]byte("last\n"))
			return nil, nil
		}))
		tr := w.trigger()
		seen := int64(0)
		for seen < 21 {
			m, err := live.NextMsg(2 * time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if m.Subject != bus.SubjectLog("g", tr.RunID) {
				t.Errorf("lines on %s", m.Subject)
			}
			l, err := w.conn.Events().DecodeLog(m.Subject, m.Header, m.Data)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range l.Lines {
				seen++
				if late := time.Since(line.At); line.Seq != seen || late > 110*time.Millisecond {
					t.Errorf("line %d came in place %d, %v after it was written", line.Seq, seen, late)
				}
			}
			if len(l.Lines) > 5 {
				t.Errorf("a batch of %d lines at one in 30 ms", len(l.Lines))
			}
		}
	})
}

func TestLinesAreValidTextOfBoundedLength(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		long := strings.Repeat("ä€😀x", bus.MaxLogText/4)
		binary := bytes.Repeat([]byte{0xff, 'a', 0x80, 0}, bus.MaxLogText)
		w.start("a", executor.Config{}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			_, _ = run.Stdout().Write([]byte(long + "\n"))
			_, _ = run.Stderr().Write(binary)
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		var text, odd strings.Builder
		for _, line := range w.lines(tr.RunID) {
			if len(line.Text) > bus.MaxLogText || !utf8.ValidString(line.Text) {
				t.Errorf("a line of %d bytes, valid: %v", len(line.Text), utf8.ValidString(line.Text))
			}
			to := &text
			if line.Output == bus.OutputStderr {
				to = &odd
			}
			to.WriteString(strings.Trim(line.Text, "…"))
		}
		if text.String() != long {
			t.Errorf("a line of %d bytes came as %d in pieces", len(long), text.Len())
		}
		if want := strings.Repeat("\uFFFDa\uFFFD\x00", bus.MaxLogText); odd.String() != want {
			t.Errorf("binary output came as %d bytes, want %d", odd.Len(), len(want))
		}
	})
}

func TestWhileTheLogStreamIsAwayTheOldestLinesGoAndAreCounted(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteStream(t.Context(), bus.StreamLog); err != nil {
			t.Fatal(err)
		}
		registry := prometheus.NewRegistry()
		w.start("a", executor.Config{Observers: []executor.NewObserver{metrics.Prometheus(registry)}, MaxLogBytes: 1 << 30}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			out := run.Stdout()
			for i := range 50000 {
				_, _ = fmt.Fprintf(out, "line %d\n", i+1)
			}
			time.Sleep(time.Minute)
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(30 * time.Second)
		if err := w.conn.Setup(t.Context(), w.assets); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		lines := w.lines(tr.RunID)
		told, last := 0, int64(0)
		for _, line := range lines {
			if line.Seq <= last {
				t.Fatalf("line %d after line %d", line.Seq, last)
			}
			last = line.Seq
			if line.Output == bus.OutputSystem {
				if _, err := fmt.Sscanf(line.Text, "%d lines were dropped here", &told); err != nil {
					t.Errorf("system line %q", line.Text)
				}
				continue
			}
			if want := fmt.Sprintf("line %d", line.Seq); line.Text != want {
				t.Fatalf("line %d is %q", line.Seq, line.Text)
			}
		}
		dropped := metric(t, registry, "carillon_executor_log_lines_dropped_total")
		if last != 50000 || told == 0 || told != 50000-(len(lines)-1) || float64(told) != dropped {
			t.Errorf("%d lines up to %d, %d told and %v counted as dropped", len(lines), last, told, dropped)
		}
		w.wantStatus(tr.RunID, job.StatusSucceeded, reason.LogIncomplete.With(told, 50000))
	})
}

func TestARunEndsThoughItsLogCannotBeStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteStream(t.Context(), bus.StreamLog); err != nil {
			t.Fatal(err)
		}
		w.start("a", executor.Config{}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
			run.Log().InfoContext(ctx, "for nobody")
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(16 * time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if e := w.finished(tr.RunID); e.FinishedAt != e.StartedAt || e.LogLines != 1 {
			t.Errorf("finished %v after the start, with %d lines", e.FinishedAt.Sub(e.StartedAt), e.LogLines)
		}
		time.Sleep(15 * time.Second)
		w.wantTriggers(0)
	})
}

func TestLogLinesSurviveARestartOfNATS(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
			for i := range 200 {
				run.Log().InfoContext(ctx, "line", "n", i+1)
				time.Sleep(100 * time.Millisecond)
			}
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(5 * time.Second)
		w.broker.Stop()
		time.Sleep(8 * time.Second)
		w.broker.Start()
		time.Sleep(time.Minute)
		seen := map[int64]string{} // a batch may come twice: its acknowledgement can be lost
		for _, line := range w.lines(tr.RunID) {
			seen[line.Seq] = line.Text
		}
		for i := int64(1); i <= 200; i++ {
			if seen[i] != fmt.Sprintf("line n=%d", i) {
				t.Errorf("line %d is %q", i, seen[i])
			}
		}
	})
}

func TestLinesOfARunThatEndsWhileNATSIsAwayAreKeptAsLongAsItsEnd(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, 10 * time.Minute} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			w.start("a", executor.Config{}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
				run.Log().InfoContext(ctx, "before")
				time.Sleep(2 * time.Second)
				run.Log().InfoContext(ctx, "while it is away")
				return nil, nil
			}))
			tr := w.trigger()
			time.Sleep(time.Second)
			w.broker.Stop()
			time.Sleep(away)
			w.broker.Start()
			time.Sleep(30 * time.Second)
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
			var texts []string
			for _, line := range w.lines(tr.RunID) {
				texts = append(texts, line.Text)
			}
			if got := strings.Join(texts, ", "); got != "before, while it is away" {
				t.Errorf("NATS away for %v: lines %q", away, got)
			}
			w.wantTriggers(0)
		})
	}
}

func TestAFloodOfOutputTakesBoundedMemory(t *testing.T) { flood(t, 16) }

func TestAtLengthAFloodOfOutputTakesBoundedMemory(t *testing.T) { flood(t, 256) }

// flood prints so many MB as fast as the stream takes them: nothing is dropped, and
// little is held.
func flood(t *testing.T, chunks int) {
	t.Helper()
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		const lineBytes = 1 << 10
		const limit = uint64(200 << 20) // the server's caches take most of it
		registry := prometheus.NewRegistry()
		var most uint64
		w.start("a", executor.Config{Observers: []executor.NewObserver{metrics.Prometheus(registry)}, MaxLogBytes: 1 << 30}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			chunk := bytes.Repeat(append(bytes.Repeat([]byte("x"), lineBytes-1), '\n'), 1<<20/lineBytes)
			out := run.Stdout()
			for i := range chunks {
				_, _ = out.Write(chunk)
				if i%(chunks/4) == 0 {
					var mem runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&mem)
					most = max(most, mem.HeapAlloc)
				}
			}
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Minute)
		if n := w.finished(tr.RunID).LogLines; n != chunks<<20/lineBytes {
			t.Errorf("%d lines counted, want %d", n, chunks<<20/lineBytes)
		}
		if n := metric(t, registry, "carillon_executor_log_lines_dropped_total"); n != 0 {
			t.Errorf("%v lines dropped", n)
		}
		if most > limit {
			t.Errorf("%d MB of heap for %d MB of output", most>>20, chunks)
		}
	})
}
