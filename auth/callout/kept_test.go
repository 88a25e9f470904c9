package callout_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Each of the floods stays within the budget. What it leaves would stay for 10 minutes to 10 days.
func TestAGroupThatKeepsTooMuchIsRefusedAndItsOldestKeysAreRemoved(t *testing.T) {
	for _, flood := range []struct {
		bucket string
		keys   int
		value  string
	}{
		{bus.BucketInst, 4 * fleet.MaxInstances, "{}"},
		{bus.BucketInst, 2 * fleet.MaxInstances, strings.Repeat("x", bus.MaxHeartbeat)},
		{bus.BucketHandler, 2000, strings.Repeat("x", bus.MaxAnnouncement)},
		{bus.BucketClaim, 260_000, ""}, // without TTL
		{bus.BucketXXLJob, 21_000, "{}"},
	} {
		t.Run(fmt.Sprintf("%s of %d bytes", flood.bucket, len(flood.value)), func(t *testing.T) {
			w := newWorld(t)
			w.serve()
			victim := w.victim()
			_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "stolen", "ann", 0)
			if flood.bucket == bus.BucketXXLJob {
				_, seed, err = w.users.Credentials().CreateForBridge(t.Context(), "alpha", []string{"alpha"}, "stolen-too", "ann", 0)
			}
			w.check(err)
			for !w.floodUntilCut(seed, "alpha", func(n int) string { return fmt.Sprintf("$KV.%s.alpha.k%d", flood.bucket, n) }, flood.keys, []byte(flood.value)) {
				t.Log("the flood restarts: its connection was lost")
			}
			most := uint64(0)
			for _, share := range bus.Shares() {
				if share.Bucket == flood.bucket {
					most = uint64(share.Keys)
				}
			}
			w.untilKept("alpha", flood.bucket, most)

			told, err := w.conn.Refusals().All(t.Context())
			w.check(err)
			if len(told) != 1 || told[0].Kept == nil || told[0].Kept.Bucket != flood.bucket || !told[0].Kept.Over() {
				t.Errorf("alerters read the refusals %+v", told)
			}
			reply, err := w.conn.AskInstance(t.Context(), victim.address, bus.VerbBeat, nil, nil, patience)
			w.check(err)
			if reply.State != fleet.InstanceOnline || reply.Running != 1 {
				t.Errorf("the other group's executor is %s with %d runs", reply.State, reply.Running)
			}
			if n, err := w.conn.Count(t.Context(), "KV_"+bus.BucketInst, "$KV.INST.beta.>"); n != 1 || err != nil {
				t.Errorf("the other group has %d instances, %v", n, err)
			}
		})
	}
}

// floodUntilCut publishes a value to so many subjects and waits until its connection ends. It reports
// whether the group is refused from then on.
func (w *world) floodUntilCut(key, group string, subject func(n int) string, keys int, value []byte) bool {
	w.Helper()
	cut, heard := cuts()
	nc := w.connect(key, group, heard, nats.NoReconnect()).NC
	for n := range keys {
		if nc.Publish(subject(n), value) != nil || n%1000 == 0 && nc.FlushTimeout(time.Minute) != nil { // one that is far behind its answers counts as gone
			break
		}
	}
	select {
	case <-cut:
	case <-time.After(patience):
		w.Fatal("the group that keeps too much is not cut off")
	}
	return w.dial(key, group) != nil
}

// untilKept waits until a group has at most so many keys in a bucket.
func (w *world) untilKept(group, bucket string, most uint64) {
	w.Helper()
	for { // what was under way comes a moment later, and counting may take too long while keys are removed
		n, err := w.conn.Count(w.Context(), "KV_"+bucket, "$KV."+bucket+"."+group+".>")
		switch {
		case errors.Is(err, job.ErrUnavailable):
			continue
		case err != nil:
			w.Fatal(err)
		case n <= most:
			return
		}
	}
}

func TestEachKeyThatExecutorsWriteHasALifetimeAndItsBucketABound(t *testing.T) {
	w := newWorld(t)
	for _, bucket := range []string{bus.BucketInst, bus.BucketHandler, bus.BucketClaim} {
		info, err := w.conn.Info(t.Context(), "KV_"+bucket)
		w.check(err)
		if info.Config.MaxAge == 0 || info.Config.MaxBytes <= 0 {
			t.Errorf("%s keeps a key for %s and at most %d bytes", bucket, info.Config.MaxAge, info.Config.MaxBytes)
		}
	}
}

// The headers of a direct read follow those that a message was stored with.
func TestAMessageCannotPassItselfOffAsAnotherToAReader(t *testing.T) {
	w := newWorld(t)
	w.serve()
	w.victim()
	alpha := w.attacker("alpha")
	forged := nats.Header{"Status": {"404"}, "Nats-Subject": {"$KV.INST.beta.b1"}, "Nats-Num-Pending": {"0"}, "Nats-Sequence": {"1"}, "Nats-Last-Sequence": {"0"}}
	for n := range 3 {
		_, err := alpha.nc.RequestMsg(&nats.Msg{Subject: fmt.Sprintf("$KV.INST.alpha.a%d", n), Header: forged, Data: []byte("{}")}, patience)
		w.check(err)
	}
	n, err := w.conn.Count(t.Context(), "KV_"+bus.BucketInst, "$KV.INST.alpha.>")
	if err != nil || n != 3 {
		t.Errorf("%d keys are counted, %v; want 3", n, err)
	}
	var subjects []string
	w.check(w.conn.Read(t.Context(), jet.Reading{Stream: "KV_" + bus.BucketInst, Filter: "$KV.INST.alpha.>", AnyReplica: true}, func(m *jet.Stored) bool {
		subjects = append(subjects, m.Subject)
		return true
	}))
	if want := "$KV.INST.alpha.a0 $KV.INST.alpha.a1 $KV.INST.alpha.a2"; strings.Join(subjects, " ") != want {
		t.Errorf("read %v, want %s", subjects, want)
	}
}
