package callout_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
)

func TestAnExecutorPullsFromAllPartitionsWhatIsOfItsGroup(t *testing.T) {
	w := newWorldWith(t, cluster.Assets{Shards: bus.MaxPartitions, Partitions: bus.MaxPartitions})
	w.serve()
	for _, group := range []string{"alpha", "beta"} {
		w.check(w.conn.Groups().Setup(t.Context(), cluster.Group{Group: group, HasRouted: true}))
		for shard := range w.conn.Cluster().Shards {
			_, err := w.conn.JS.Publish(t.Context(), bus.SubjectTrigger(shard, group), []byte(group))
			w.check(err)
		}
	}
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "web", "ann", 0)
	w.check(err)
	refused := make(chan error, 100)
	conn := w.connect(seed, "alpha", nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	for _, c := range w.conn.Cluster().Partitions.Consumers(bus.ConsumerAny("alpha")) {
		found, err := conn.Pull(t.Context(), c.Stream, c.Consumer, jet.PullRequest{Batch: 1, Expires: time.Minute})
		if err != nil || len(found) != 1 || string(found[0].Data) != "alpha" {
			t.Fatalf("%s of %s hands out %v, %v", c.Consumer, c.Stream, found, err)
		}
		w.check(found[0].AckSync())
		if left, err := w.conn.ConsumerInfo(t.Context(), c.Stream, c.Consumer); err != nil || left.NumAckPending != 0 {
			t.Errorf("%s: %+v, %v", c.Stream, left, err)
		}
	}
	select {
	case err := <-refused:
		t.Fatal(err)
	default:
	}
	for _, stream := range w.conn.Trigs() {
		for _, subject := range []string{
			"$JS.API.CONSUMER.MSG.NEXT." + stream + ".any-beta", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".route-alpha", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".ledger",
			"$JS.ACK." + stream + ".any-beta.1.1.1.1.0", "$JS.ACK." + stream + ".ledger.1.1.1.1.0",
		} {
			w.check(conn.NC.Publish(subject, []byte(`{"batch":1}`)))
			select {
			case err := <-refused:
				if !errors.Is(err, nats.ErrPermissionViolation) {
					t.Errorf("%s: %v", subject, err)
				}
			case <-time.After(patience):
				t.Errorf("%s is allowed", subject)
			}
		}
	}
}
