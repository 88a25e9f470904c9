package callout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/job"
)

// world is a NATS server that asks, and a service that answers.
type world struct {
	*testing.T
	url   string
	keys  callout.Keys
	conn  *cluster.Conn // of the account CARILLON
	users *auth.Directory
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, cluster.Assets{Shards: 1})
}

// newWorldWith is newWorld with other streams.
func newWorldWith(t *testing.T, assets cluster.Assets) *world {
	t.Helper()
	w := &world{T: t}
	var err error
	w.keys, err = callout.NewKeys()
	w.check(err)
	public, err := w.keys.Public()
	w.check(err)
	conf, err := callout.Configure(embedded.DefaultConf, public)
	w.check(err)
	file := filepath.Join(t.TempDir(), "nats.conf")
	w.check(os.WriteFile(file, []byte(conf), 0o600))
	srv, err := embedded.Start(embedded.Config{ConfigFile: file, StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	w.check(err)
	t.Cleanup(func() { _ = srv.Shutdown() })
	w.url = srv.ClientURL()
	w.conn = w.connect(w.keys.Server, "")
	w.check(w.conn.Setup(t.Context(), assets))
	w.users = auth.NewDirectory(w.conn, nil)
	w.run(w.users.Run)
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// run runs something until the test ends, or the returned function is called.
func (w *world) run(f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		ended <- nil
	}
	w.Cleanup(stop)
	return stop
}

// serve starts a service, and returns what stops it.
func (w *world) serve() (stop func()) {
	w.Helper()
	return w.serveWith(callout.Config{})
}

func (w *world) serveWith(cfg callout.Config) (stop func()) {
	w.Helper()
	s, err := callout.New(w.conn, w.connect(w.keys.System, "").NC, w.keys, cfg)
	w.check(err)
	return w.run(s.Run)
}

func (w *world) connect(key, group string, opts ...nats.Option) *cluster.Conn {
	w.Helper()
	conn, err := cluster.Await(w.Context(), config(w.url, key, group, opts)) // the service may not answer yet
	w.check(err)
	w.Cleanup(conn.NC.Close)
	return conn
}

// dial is connect, once.
func (w *world) dial(key, group string, opts ...nats.Option) error {
	conn, err := cluster.Connect(config(w.url, key, group, append([]nats.Option{nats.Timeout(time.Minute)}, opts...)))
	if err == nil {
		conn.NC.Close()
	}
	return err
}

func config(url, key, group string, opts []nats.Option) jet.Config {
	cfg := jet.Config{URL: url, Key: key, Wait: time.Minute, Options: opts}
	if group != "" {
		cfg.Inbox = bus.ExecutorInbox(group)
	}
	return cfg
}

// patience is how long a test waits for what is to come: no machine is as slow.
const patience = 5 * time.Minute

// until waits for a channel that something is to close or send to.
func (w *world) until(what string, c <-chan struct{}) {
	w.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		w.Fatalf("%s: not within %s", what, patience)
	}
}

// cuts returns a channel that is sent to when a connection ends, and its option.
func cuts() (<-chan struct{}, nats.Option) {
	c := make(chan struct{}, 16)
	return c, nats.DisconnectErrHandler(func(*nats.Conn, error) { c <- struct{}{} })
}

func TestACredentialAdmitsUntilItIsRevokedExpiresOrIsRotated(t *testing.T) {
	w := newWorld(t)
	stop := w.serve()
	first, seed, err := w.users.Credentials().Create(t.Context(), "billing", "a", "ann", 0)
	w.check(err)
	if err := w.dial(w.keys.Issuer, ""); err == nil {
		t.Error("a key of another kind was let in")
	}
	cut, heard := cuts()
	open := w.connect(seed, "billing", heard)
	ended, heard := cuts()
	for life := 5 * time.Second; ; life *= 2 { // on a busy machine it may expire before it is used
		_, short, err := w.users.Credentials().Create(t.Context(), "billing", "b", "ann", life)
		w.check(err)
		expires := time.Now().Add(life)
		ctx, cancel := context.WithDeadline(w.Context(), expires) // the service may not have read it yet
		conn, err := cluster.Await(ctx, config(w.url, short, "billing", []nats.Option{nats.Timeout(time.Minute), heard}))
		cancel()
		if err != nil && life < patience && errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		w.check(err)
		w.Cleanup(conn.NC.Close)
		break
	}
	w.until("the one that expires", ended)

	next, other, err := w.users.Credentials().Rotate(t.Context(), "billing", first.ID, "ann", time.Hour)
	w.check(err)
	w.connect(seed, "billing")
	goes, heard := cuts()
	w.connect(other, "billing", heard)
	w.check(w.users.Credentials().Revoke(t.Context(), "billing", first.ID))
	w.until("the one that was revoked", cut)
	if err := w.dial(seed, "billing"); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a revoked credential: %v", err)
	}
	if open.NC.IsConnected() {
		t.Error("a revoked credential came back")
	}

	// Without a service nobody else is admitted, and who is connected stays.
	stop()
	if err := w.dial(other, "billing", nats.Timeout(500*time.Millisecond)); err == nil {
		t.Error("somebody was admitted by nobody")
	}
	select {
	case <-goes:
		t.Error("the service took somebody along")
	default:
	}
	w.check(w.users.Credentials().Revoke(t.Context(), "billing", next.ID))
	w.serve()
	w.until("the one that was revoked while no service was there", goes)
}

// Requests to instances cross accounts. That nobody is there must be known at once all
// the same, as it is within one account.
func TestARequestToAnInstanceIsAnsweredOrKnownToReachNobody(t *testing.T) {
	w := newWorld(t)
	w.serve()
	_, seed, err := w.users.Credentials().Create(t.Context(), "billing", "a", "ann", 0)
	w.check(err)
	instance := w.connect(seed, "billing")
	there, err := instance.NC.Subscribe("exec.billing.web1.*", func(m *nats.Msg) { _ = m.Respond([]byte("here")) })
	w.check(err)
	w.check(instance.NC.Flush())
	ask := func(subject, want string, is error) {
		t.Helper()
		m, err := w.conn.NC.Request(subject, nil, time.Minute) // what is not known at once is known then, as a timeout
		if !errors.Is(err, is) || err == nil && string(m.Data) != want {
			t.Errorf("%s: %v, want %v", subject, err, is)
		}
	}
	ask("exec.billing.web1.idle", "here", nil)
	ask("exec.billing.web2.idle", "", nats.ErrNoResponders)
	ask("exec.other.web1.idle", "", nats.ErrNoResponders)
	w.check(errors.Join(there.Unsubscribe(), instance.NC.Flush()))
	ask("exec.billing.web1.idle", "", nats.ErrNoResponders)
	// An executor that is not in the account of executors, as that of `carillon dev`.
	_, err = w.conn.NC.Subscribe("exec.billing.dev.*", func(m *nats.Msg) { _ = m.Respond([]byte("dev")) })
	w.check(err)
	w.check(w.conn.NC.Flush())
	ask("exec.billing.dev.idle", "dev", nil)
}

func TestKeysAreWhatKeygenPrintsOrAnErrorThatTellsNothingOfThem(t *testing.T) {
	keys, err := callout.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	back, err := callout.ParseKeys(keys.Text() + "\n")
	if err != nil || back != keys {
		t.Errorf("%v", err)
	}
	parts := strings.Split(keys.Text(), ".")
	for _, text := range []string{
		"", keys.Server, strings.Join(parts[:3], "."), strings.Join([]string{parts[0], parts[1], parts[2], parts[1]}, "."), keys.Text()[:len(keys.Text())-1],
	} {
		if _, err := callout.ParseKeys(text); err == nil || strings.Contains(err.Error(), keys.Server[:12]) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOnlyNATSConfCanBeConfigured(t *testing.T) {
	if _, err := callout.Configure("jetstream: enabled", callout.Public{}); !errors.Is(err, job.ErrInvalid) {
		t.Error(err)
	}
}
