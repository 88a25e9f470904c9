package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAServerThatIsStartingSaysNothingOfAConsumer(t *testing.T) {
	const (
		starting = `{"stream_name":"S","name":"c","config":{"durable_name":"c","num_replicas":3},"num_pending":0}`
		electing = `{"stream_name":"S","name":"c","config":{"durable_name":"c","num_replicas":3},"cluster":{"name":"n"},"num_pending":0}`
		ready    = `{"stream_name":"S","name":"c","config":{"durable_name":"c","num_replicas":3},"cluster":{"name":"n","leader":"n1"},"num_pending":7}`
		alone    = `{"stream_name":"S","name":"c","config":{"durable_name":"c","num_replicas":1},"num_pending":5}`
		gone     = `{"error":{"code":404,"err_code":10014,"description":"consumer not found"}}`
	)
	for name, c := range map[string]struct {
		answers []string // the last one again and again
		pending uint64
		err     error
	}{
		"ready":                    {[]string{ready}, 7, nil},
		"without replicas":         {[]string{alone}, 5, nil},
		"starting, then ready":     {[]string{starting, electing, starting, ready}, 7, nil},
		"starting for a long time": {[]string{starting}, 0, job.ErrUnavailable},
		"no such consumer":         {[]string{starting, gone}, 0, jetstream.ErrConsumerNotFound},
	} {
		inCluster(t, func(w *world) {
			js, err := jetstream.NewWithAPIPrefix(w.conn.NC, "FAKE")
			if err != nil {
				w.t.Fatal(err)
			}
			asked := 0
			server, err := w.conn.NC.Subscribe("FAKE.CONSUMER.INFO.S.c", func(m *nats.Msg) {
				_ = m.Respond([]byte(c.answers[min(asked, len(c.answers)-1)]))
				asked++
			})
			if err != nil {
				w.t.Fatal(err)
			}
			defer func() { _ = server.Unsubscribe() }()
			begun := time.Now()
			info, err := (&jet.Conn{NC: w.conn.NC, JS: js}).ConsumerInfo(w.t.Context(), "S", "c")
			if !errors.Is(err, c.err) || err == nil && info.NumPending != c.pending || time.Since(begun) > jet.BatchTimeout+time.Second {
				w.t.Errorf("%s: after %d answers and %v: %+v, %v", name, asked, time.Since(begun), info, err)
			}
		})
	}
}
