package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// saveNewer saves a version of a job as a server does that reads a format more.
func (w *world) saveNewer(name job.Name, version int) {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketJobs)
	if err != nil {
		w.t.Fatal(err)
	}
	text := fmt.Appendf(nil, `{"job":%q,"version":%d,"effective_from":%q,"format":%d,"schedule":"of a kind to come"}`,
		name, version, time.Now().UTC().Format(time.RFC3339Nano), job.VersionFormat+1)
	if _, err := kv.Put(w.t.Context(), bus.JobKey(name.Shard(8), name), text); err != nil {
		w.t.Fatal(err)
	}
}

// forget removes all versions of a job.
func (w *world) forget(name job.Name) {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketJobs)
	if err == nil {
		err = kv.Purge(w.t.Context(), bus.JobKey(name.Shard(8), name))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// wantParked checks for which reason shards do not fire, as a node shows it and the cluster knows it.
func (w *world) wantParked(node, why string, want ...int) {
	w.t.Helper()
	known, err := w.conn.Nodes().Parked(w.t.Context(), time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, list := range [][]int{{}, {}} {
		for _, p := range known {
			if list = append(list, p.Shard); !strings.Contains(p.Reason, why) {
				w.t.Errorf("shard %d does not fire because %s; want %s", p.Shard, p.Reason, why)
			}
		}
		if !slices.Equal(list, want) {
			w.t.Errorf("shards %v do not fire, want %v", list, want)
		}
		known = w.nodes[node].Parked()
	}
}

func catchesUp(j *job.Job) {
	j.Misfire = job.Misfire{Policy: job.FireAll, Grace: job.Duration(time.Hour)}
}

// neighbour returns a job of the same shard as another.
func neighbour(of job.Name) job.Name {
	for i := 0; ; i++ {
		if n := job.Name(fmt.Sprintf("g/near-%d", i)); n.Shard(8) == of.Shard(8) {
			return n
		}
	}
}

var newerOfA = fmt.Sprintf("version 2 of job g/a has format %d, which this server cannot read: upgrade this server", job.VersionFormat+1)

func TestAShardStandsWhenANewerServerHasSavedOneOfItsJobs(t *testing.T) {
	run(t, func(w *world) {
		number := job.Name("g/a").Shard(8)
		near := neighbour("g/a")
		others := slices.DeleteFunc(names(16), func(n job.Name) bool { return n.Shard(8) == number })
		for _, n := range append([]job.Name{"g/a", near}, others...) {
			w.put(n, secondly, catchesUp)
		}
		w.startNode("a")
		time.Sleep(10500 * time.Millisecond)
		w.wantParked("a", "")
		w.saveNewer("g/a", 2)
		time.Sleep(time.Minute)
		w.wantParked("a", newerOfA, number)
		if n := w.metric("a", "carillon_shards_parked"); n != 1 {
			t.Errorf("%v shards are shown as parked", n)
		}
		if fires := w.fires("g/a", time.Second); len(fires) != 10 {
			t.Errorf("%d fires, want 10", len(fires))
		}
		w.wantEachOnce(second(1), others...)
		w.forget("g/a")
		time.Sleep(time.Minute)
		w.wantParked("a", "")
		w.wantEachOnce(second(1), near)
	})
}

func TestAnOldServerThatJoinsLateStandsForWhatItCannotRead(t *testing.T) {
	run(t, func(w *world) {
		number := job.Name("g/a").Shard(8)
		near := neighbour("g/a")
		others := slices.DeleteFunc(names(16), func(n job.Name) bool { return n.Shard(8) == number })
		for _, n := range append([]job.Name{"g/a", near}, others...) {
			w.put(n, secondly, catchesUp)
		}
		w.saveNewer("g/a", 2)
		w.startNode("a")
		time.Sleep(30500 * time.Millisecond)
		w.wantParked("a", newerOfA, number)
		w.wantEachOnce(second(1), others...)
		w.stopNode("a")
		w.startNode("b") // another old one
		time.Sleep(30 * time.Second)
		w.wantParked("b", newerOfA, number)
		if fires := append(w.fires("g/a", time.Second), w.fires(near, time.Second)...); len(fires) != 0 {
			t.Errorf("%d fires", len(fires))
		}
		w.forget("g/a")
		time.Sleep(time.Minute)
		w.wantParked("b", "")
		w.wantEachOnce(second(1), near)
	})
}

func TestAnItemOfAKindToComeStaysAndStopsNoShard(t *testing.T) {
	run(t, func(w *world) {
		number := job.Name("g/a").Shard(8)
		w.put("g/a", secondly, catchesUp)
		w.startNode("a")
		m := bus.NewMessage(bus.SubjectDeferred(number), bus.MessageDeferred, []byte(`{"kind":"of a kind to come","job":"g/a"}`))
		if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"a", "b"} {
			if node == "b" {
				w.stopNode("a")
				w.startNode("b")
			}
			time.Sleep(10 * time.Second)
			w.wantParked(node, "")
			if n := w.metric(node, "carillon_deferred_items_later_total"); n != 1 {
				t.Errorf("server %s counts %v items, want 1", node, n)
			}
		}
		w.wantEachOnce(second(1), "g/a")
		kept := 0
		w.scan(bus.SubjectDeferred(number), func(m *jet.Stored) {
			if _, err := journal.DecodeDeferred(m.Header, m.Data); errors.Is(err, journal.ErrLaterItem) {
				kept++
			}
		})
		if kept != 1 {
			t.Errorf("%d items of the kind are stored, want 1", kept)
		}
	})
}
