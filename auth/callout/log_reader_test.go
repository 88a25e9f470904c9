package callout_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/job"
)

// Nobody answers for executors here: a reader is admitted without.
func TestAReaderOfLogsReadsByItsConsumerAndDoesNothingElse(t *testing.T) {
	keys, err := callout.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keys.Public()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := callout.NewOperator()
	if err != nil {
		t.Fatal(err)
	}
	key, err := callout.OperatorOf(seed)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := callout.Configure(embedded.DefaultConf, public)
	if err == nil {
		conf, err = callout.AdmitLogReaders(conf, []callout.LogReader{{Consumer: "loki", Key: key}})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := embedded.Start(embedded.Config{ConfigFile: file, StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown() })
	connect := func(seed string) *nats.Conn {
		t.Helper()
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			t.Fatal(err)
		}
		key, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(srv.ClientURL(), nats.Nkey(key, pair.Sign), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}

	server := connect(strings.Split(keys.Text(), ".")[1])
	js, err := jetstream.New(server)
	if err != nil {
		t.Fatal(err)
	}
	for stream, subject := range map[string]string{"LOG": "log.*", "EVT": "evt.>"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"loki", "ingest"} {
		if _, err := js.CreateConsumer(t.Context(), "LOG", jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.Publish(t.Context(), "log.billing", []byte("a line")); err != nil {
		t.Fatal(err)
	}

	reader := connect(seed)
	m, err := reader.Request("$JS.carillon.API.CONSUMER.MSG.NEXT.LOG.loki", []byte("1"), patience)
	if err != nil || string(m.Data) != "a line" {
		t.Fatalf("got %v, %v", m, err)
	}
	if _, err := reader.Request(m.Reply, []byte("+ACK"), patience); err != nil {
		t.Fatal(err)
	}
	if info, err := js.Consumer(t.Context(), "LOG", "loki"); err != nil || info.CachedInfo().NumAckPending != 0 {
		t.Errorf("not acknowledged: %v", err)
	}

	refused := func(subject, reply string) bool {
		t.Helper()
		if err := reader.PublishRequest(subject, reply, []byte("1")); err != nil {
			t.Fatal(err)
		}
		if err := reader.FlushTimeout(patience); err != nil {
			t.Fatal(err)
		}
		err := reader.LastError()
		return err != nil && strings.Contains(err.Error(), subject)
	}
	for _, subject := range []string{
		"$JS.carillon.API.CONSUMER.MSG.NEXT.LOG.ingest", "$JS.API.CONSUMER.MSG.NEXT.LOG.loki", "$JS.API.CONSUMER.MSG.NEXT.TRIG.any-billing", "$JS.API.CONSUMER.DELETE.LOG.loki",
		"$JS.API.STREAM.INFO.LOG", "$JS.API.STREAM.MSG.GET.EVT", "log.billing", "evt.0.billing", "$KV.JOBS.billing.x",
	} {
		if !refused(subject, "_INBOX.x") {
			t.Errorf("a reader may publish to %s: %v", subject, reader.LastError())
		}
	}
	// What it reads, it cannot have sent into a stream.
	if _, err := js.Publish(t.Context(), "log.billing", []byte("another line")); err != nil {
		t.Fatal(err)
	}
	if refused("$JS.carillon.API.CONSUMER.MSG.NEXT.LOG.loki", "evt.0.billing") {
		t.Error("the request is refused: choose another way to see that its answer goes nowhere")
	}
	if m, err := reader.Request("$JS.carillon.API.CONSUMER.INFO.LOG.loki", nil, patience); err != nil || strings.Contains(string(m.Data), `"error"`) {
		t.Fatalf("%v, %s", err, m.Data) // by now, NATS has answered the request before it
	}
	if evt, err := js.Stream(t.Context(), "EVT"); err != nil || evt.CachedInfo().State.Msgs != 0 {
		t.Errorf("a reader has written to EVT: %v", err)
	}
}

func TestAReaderOfLogsHasANameAndAKeyOfItsOwn(t *testing.T) {
	public, _, key := operator(t)
	conf, err := callout.Configure(embedded.DefaultConf, public)
	if err != nil {
		t.Fatal(err)
	}
	for _, readers := range [][]callout.LogReader{
		{{"ingest", key}}, {{"Loki!", key}}, {{"loki", public.Server}}, {{"loki", key}, {"other", key}},
	} {
		if _, err := callout.AdmitLogReaders(conf, readers); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%v: %v", readers, err)
		}
	}
}
