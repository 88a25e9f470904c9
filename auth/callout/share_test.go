package callout_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// budget is small, so that a flood is found in a test. Sixteen seconds of it may be sent
// at once.
const budget = 256 << 10

func TestAGroupThatFloodsIsCutOffAndRefusedAndOthersGoOn(t *testing.T) {
	w := newWorld(t)
	w.serveWith(callout.Config{Budget: budget})
	victim := w.victim()
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "stolen", "ann", 0)
	w.check(err)
	cut, heard := cuts()
	alpha := w.connect(seed, "alpha", heard).NC
	w.flood(alpha, 2*16*budget)
	w.until("the flooder", cut)
	w.refused(seed, "alpha")
	told, err := w.conn.Refusals().All(t.Context())
	w.check(err)
	if len(told) != 1 || told[0].Group != "alpha" || !told[0].Until.After(time.Now()) {
		t.Errorf("alerters read the refusals %+v", told)
	}

	// Nor may others of the group come in, and connections that are over before anybody
	// lists them count as well.
	_, other, err := w.users.Credentials().Create(t.Context(), "alpha", "other", "ann", 0)
	w.check(err)
	w.refused(other, "alpha")
	_, third, err := w.users.Credentials().Create(t.Context(), "gamma", "stolen", "ann", 0)
	w.check(err)
floods:
	for range 40 {
		conn, err := cluster.Connect(config(w.url, third, "gamma", nil))
		switch {
		case errors.Is(err, nats.ErrAuthorization) && w.tellsRefusal("gamma"):
			break floods
		case err != nil: // the machine is busy: NATS also refuses a connection that is not admitted in time
			continue
		}
		w.flood(conn.NC, 6*budget) // as one takes seconds when the machine is busy
		conn.NC.Close()
	}
	w.refused(third, "gamma")

	reply, err := w.conn.AskInstance(t.Context(), victim.address, bus.VerbBeat, nil, nil, patience)
	w.check(err)
	if reply.State != fleet.InstanceOnline || reply.Running != 1 {
		t.Errorf("the other group's executor is %s with %d runs", reply.State, reply.Running)
	}
	_, next, err := w.users.Credentials().Create(t.Context(), "beta", "second", "ann", 0)
	w.check(err)
	w.connect(next, "beta")
}

// tellsRefusal reports whether alerters read that a group is refused.
func (w *world) tellsRefusal(group string) bool {
	w.Helper()
	told, err := w.conn.Refusals().All(w.Context())
	w.check(err)
	return slices.ContainsFunc(told, func(r cluster.Refusal) bool { return r.Group == group })
}

// flood publishes so many bytes of garbage as events, and waits until NATS has them, or
// has closed the connection.
func (w *world) flood(nc *nats.Conn, bytes int) {
	w.Helper()
	garbage := []byte(strings.Repeat("x", 32<<10))
	group := strings.TrimPrefix(nc.Opts.InboxPrefix, "_INBOX_")
	for range bytes / len(garbage) {
		if err := nc.Publish("evt.0."+group, garbage); err != nil {
			return
		}
	}
	_ = nc.FlushTimeout(10 * time.Second)
}

// refused checks that a group's credential does not admit.
func (w *world) refused(seed, group string) {
	w.Helper()
	if err := w.dial(seed, group); !errors.Is(err, nats.ErrAuthorization) {
		w.Errorf("group %s is admitted: %v", group, err)
	}
}

func TestWhatAnExecutorSendsIsLimitedMessageByMessage(t *testing.T) {
	w := newWorld(t)
	w.serve()
	victim := w.victim()
	alpha := w.attacker("alpha")
	store := func(subject string, header nats.Header, size int) error {
		t.Helper()
		m, err := alpha.nc.RequestMsg(&nats.Msg{Subject: subject, Header: header, Data: make([]byte, size)}, patience)
		w.check(err)
		if strings.Contains(string(m.Data), `"error"`) {
			return errors.New(string(m.Data))
		}
		return nil
	}
	refused := func(subject string, header nats.Header, size int) {
		t.Helper()
		if store(subject, header, size) == nil {
			t.Errorf("%s takes %d bytes with %v", subject, size, header)
		}
	}
	w.check(store("evt.0.alpha", nil, 500<<10))
	for _, share := range bus.Shares() {
		if share.Bucket == bus.BucketXXLJob { // bridges alone write it
			continue
		}
		subject := "$KV." + share.Bucket + ".alpha.x"
		w.check(store(subject, nil, share.Message))
		refused(subject, nil, share.Message+1)
	}

	// By a rollup, whoever may write one key removes all of them.
	for _, subject := range []string{"$KV.INST.alpha.x", "$KV.HANDLER.alpha.x", "$KV.CLAIM.alpha.x", "evt.0.alpha", "log.alpha.x"} {
		refused(subject, nats.Header{"Nats-Rollup": {"all"}}, 10)
		refused(subject, nats.Header{"Nats-Rollup": {"sub"}}, 10)
	}
	if _, err := w.conn.Instances().Heartbeat(t.Context(), "beta", "b1"); errors.Is(err, job.ErrNotFound) {
		t.Error("the other group's heartbeat is gone")
	}

	// One that is too large for any message ends the connection.
	cut, heard := cuts()
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "large", "ann", 0)
	w.check(err)
	large := w.connect(seed, "alpha", heard).NC
	// NATS may hang up while the message comes. Then the client cannot write the rest.
	if err := large.Publish("evt.0.alpha", make([]byte, 2<<20)); !errors.Is(err, nats.ErrMaxPayload) {
		w.until("a message of 2 MiB", cut)
	}
	if n := victim.refused(); n != 0 {
		t.Errorf("%d messages came to the other group's executor", n)
	}
}

// Versions before this one made these buckets with the client library, which allows rollups.
func TestBucketsThatExecutorsWriteTakeNoRollupsAnyMore(t *testing.T) {
	w := newWorld(t)
	js := w.conn.JS
	buckets := []jetstream.KeyValueConfig{
		{Bucket: bus.BucketHandler, TTL: bus.HandlerTTL}, {Bucket: bus.BucketInst, TTL: fleet.InstanceShown}, {Bucket: bus.BucketClaim, LimitMarkerTTL: time.Minute},
	}
	for _, old := range buckets {
		w.check(js.DeleteKeyValue(t.Context(), old.Bucket))
		kv, err := js.CreateKeyValue(t.Context(), old)
		w.check(err)
		_, err = kv.Put(t.Context(), "g.a", []byte("kept"))
		w.check(err)
	}
	w.check(w.conn.Setup(t.Context(), cluster.Assets{}))
	for _, b := range buckets {
		m := &nats.Msg{Subject: "$KV." + b.Bucket + ".g.b", Header: nats.Header{"Nats-Rollup": {"all"}}}
		if _, err := js.PublishMsg(t.Context(), m); err == nil {
			t.Errorf("%s takes a rollup", b.Bucket)
		}
		kv, err := js.KeyValue(t.Context(), b.Bucket)
		w.check(err)
		if e, err := kv.Get(t.Context(), "g.a"); err != nil || string(e.Value()) != "kept" {
			t.Errorf("%s: %v", b.Bucket, err)
		}
	}
}
