package scheduler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

// limitMessages sets how large a message of TRIG may be; -1 is no limit.
func (w *world) limitMessages(bytes int32) {
	w.t.Helper()
	s, err := w.conn.JS.Stream(w.t.Context(), bus.StreamTrig)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxMsgSize = bytes
	if _, err := w.conn.JS.UpdateStream(w.t.Context(), cfg); err != nil {
		w.t.Fatal(err)
	}
}

func bulky(j *job.Job) {
	j.Params = json.RawMessage(fmt.Sprintf("%q", strings.Repeat("x", 20<<10)))
	j.Misfire = job.Misfire{Policy: job.FireAll, Grace: job.Duration(time.Hour)}
}

func TestAShardForWhichABatchIsRefusedForGoodIsParkedAndTheOthersGoOn(t *testing.T) {
	run(t, func(w *world) {
		others := slices.DeleteFunc(names(16), func(n job.Name) bool { return n.Shard(8) == job.Name("g/bulky").Shard(8) })
		for _, n := range others {
			w.put(n, secondly)
		}
		w.put("g/bulky", secondly, bulky)
		w.startNode("a")
		time.Sleep(5500 * time.Millisecond)
		w.limitMessages(8 << 10)
		time.Sleep(time.Minute)
		if n := len(w.nodes["a"].Parked()); n != 1 {
			t.Errorf("%d shards are parked, want 1", n)
		}
		for n, all := range w.wantEachOnce(second(1), others...) {
			if d := longest(all); d > 10*time.Second {
				t.Errorf("%s: a fire was decided %v late", n, d)
			}
		}
		w.limitMessages(-1)
		time.Sleep(30 * time.Second)
		if n := len(w.nodes["a"].Parked()); n != 0 {
			t.Errorf("%d shards are parked, want none", n)
		}
		w.wantEachOnce(second(1), "g/bulky")
	})
}

// runWith is run on a broker whose configuration has one text replaced by another.
func runWith(t *testing.T, was, becomes string, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBrokerWith(t, was, becomes), nodes: map[string]*node{}}
		w.conn = w.connect("test")
		w.assets = cluster.Assets{Shards: 8, TrigBytes: 256 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}
		w.setup()
		f(w)
	})
}

func TestANodeFindsHowManyMessagesNATSTakesInABatch(t *testing.T) {
	runWith(t, "max_msgs: 1000", "max_msgs: 40", func(w *world) {
		jobs := names(40)
		for _, n := range jobs {
			w.put(n, secondly, func(j *job.Job) { j.Misfire = job.Misfire{Grace: job.Duration(time.Hour)} })
		}
		time.Sleep(20 * time.Second) // so that each shard has more to do than one batch takes
		w.startNode("a")
		time.Sleep(10500 * time.Millisecond)
		if n := len(w.nodes["a"].Parked()); n != 0 {
			t.Errorf("%d shards are parked, want none", n)
		}
		w.wantEachOnce(second(1), jobs...)
	})
}
