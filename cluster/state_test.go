package cluster_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestStateTellsOfStreamsBucketsAndConsumers(t *testing.T) {
	inCluster(t, func(w *world) {
		t := w.t
		if err := w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "mail-eu", Dispatched: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.conn.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHERS", Subjects: []string{"others"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.conn.JS.CreateConsumer(t.Context(), bus.StreamEvt, jetstream.ConsumerConfig{Name: "follower"}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := w.conn.JS.Publish(t.Context(), bus.SubjectPriority(0, job.PriorityHigh, "mail-eu"), nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a", "b"} {
			if _, err := w.conn.JS.Publish(t.Context(), bus.SubjectHeartbeat("mail-eu", name), nil); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // until NATS has counted what waits for each consumer
		state, err := w.conn.Streams().State(t.Context(), []string{"mail-eu"})
		if err != nil {
			t.Fatal(err)
		}
		if state.Durability != fleet.OneCopy || state.Replicas != 1 || state.Server == "" || !strings.HasPrefix(state.Version, "2.") || state.Bytes == 0 {
			t.Errorf("%+v", state)
		}
		var names []string
		for _, s := range state.Streams {
			if s.Bucket {
				s.Stream = "bucket " + s.Stream
			}
			names = append(names, s.Stream)
		}
		expected := []string{
			bus.StreamAudit, bus.StreamDead, bus.StreamEvt, bus.StreamLog, bus.StreamTrig,
			"bucket ACCESS", "bucket ALERT",
		}
		if d := cmp.Diff(expected, names[:min(len(expected), len(names))]); d != "" || slices.Contains(names, "OTHERS") {
			t.Error(names, d)
		}
		trig := state.Streams[4]
		if !trig.Refuses || trig.Messages < 3 || trig.LastSeq < 3 || trig.MaxBytes != 4<<30 || !trig.OldestAt.Equal(began) || trig.Consumers != 5 {
			t.Errorf("%+v", trig)
		}
		if want := (fleet.ConsumerState{Stream: bus.StreamTrig, Consumer: "high-mail-eu", Group: "mail-eu", Waiting: 3}); state.Consumers[0] != want {
			t.Errorf("%+v, want %+v", state.Consumers[0], want)
		}
		if want := []fleet.Kept{{Group: "mail-eu", Bucket: bus.BucketInst, Keys: 2, MaxKeys: fleet.MaxInstances, Unreadable: 2}}; !slices.Equal(state.Kept, want) {
			t.Errorf("groups keep %+v, want %+v", state.Kept, want)
		}
		for _, c := range state.Consumers {
			if c.Ephemeral != (c.Consumer == "follower") {
				t.Errorf("%+v", c)
			}
			if ours := strings.HasSuffix(c.Consumer, "-mail-eu"); ours != (c.Group == "mail-eu") {
				t.Errorf("%+v", c)
			}
		}
	})
}

func TestStateSaysThatNATSDoesNotAnswer(t *testing.T) {
	inCluster(t, func(w *world) {
		t := w.t
		away := w.connect("away")
		w.broker.Partition("away")
		if _, err := away.Streams().State(t.Context(), nil); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("%v, want %v", err, job.ErrUnavailable)
		}
	})
}
