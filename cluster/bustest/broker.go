package bustest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

// errUnreachable is what a client that tries to connect gets while the broker is
// stopped or the client is partitioned.
var errUnreachable = errors.New("broker unreachable")

// Broker is a JetStream server that a test can stop, start again on the same
// files, and cut off from one client at a time. Its methods may be called
// concurrently, except for Start and Stop.
type Broker struct {
	tb     testing.TB
	dir    string
	config string // path of its configuration; "" is the repository's

	mu     sync.Mutex
	srv    *embedded.Server // nil while stopped
	cables map[string]*cable
	silent *regexp.Regexp // finds what is sent about a stream that is silent; nil: none is
}

// cable is all that joins a client of one name to the broker: what has happened
// to its traffic, and its connections, which all share that fate.
type cable struct {
	fault fault
	links map[*link]struct{}
}

// NewBroker starts a broker that stops when the test ends.
func NewBroker(tb testing.TB) *Broker {
	tb.Helper()
	return newBroker(tb).started()
}

// NewBrokerWith is NewBroker with a text of the configuration replaced by another.
func NewBrokerWith(tb testing.TB, was, becomes string) *Broker {
	tb.Helper()
	b := newBroker(tb)
	b.Configure(was, becomes)
	return b.started()
}

func newBroker(tb testing.TB) *Broker {
	tb.Helper()
	return &Broker{tb: tb, dir: tb.TempDir(), cables: map[string]*cable{}}
}

func (b *Broker) started() *Broker {
	b.tb.Helper()
	b.Start()
	b.tb.Cleanup(b.Stop)
	return b
}

// Configure replaces a text in the repository's configuration for the next Start.
func (b *Broker) Configure(was, becomes string) {
	b.tb.Helper()
	if !strings.Contains(embedded.DefaultConf, was) {
		b.tb.Fatalf("nats.conf has no %q", was)
	}
	b.config = filepath.Join(b.tb.TempDir(), "nats.conf")
	if err := os.WriteFile(b.config, []byte(strings.Replace(embedded.DefaultConf, was, becomes, 1)), 0o600); err != nil {
		b.tb.Fatal(err)
	}
}

// Start starts the broker on the files of its last run. Clients reconnect by
// themselves, after their reconnect wait.
func (b *Broker) Start() {
	b.tb.Helper()
	srv, err := embedded.Start(embedded.Config{ConfigFile: b.config, StoreDir: b.dir, ServerName: "bustest", InProcessOnly: true})
	if err != nil {
		b.tb.Fatal(err)
	}
	b.mu.Lock()
	b.srv = srv
	b.mu.Unlock()
}

// Stop stops the broker and waits until it has stopped. A stopped broker may be
// stopped again.
//
// nats-server waits for pull consumers to be told, with locks held. A request that comes in
// that instant waits for the locks, which keeps the bubble's clock from going on. So a test that
// stops the broker right after something has begun calls synctest.Wait before.
func (b *Broker) Stop() {
	b.mu.Lock()
	srv := b.srv
	b.srv = nil
	b.mu.Unlock()
	if srv == nil {
		return
	}
	if err := srv.Shutdown(); err != nil {
		b.tb.Error(err)
	}
}

// Kill ends the broker as SIGKILL does: the next Start finds the files as they are now, without what
// a broker writes when it stops. Nobody may write to it meanwhile.
func (b *Broker) Kill() {
	b.tb.Helper()
	left := b.tb.TempDir()
	if err := os.CopyFS(left, os.DirFS(b.dir)); err != nil {
		b.tb.Fatal(err)
	}
	b.Stop()
	b.dir = left
}

// Connect returns a connection under name that reconnects for as long as the
// test runs, and closes when it ends. Connections of the same name share their
// partitions.
func (b *Broker) Connect(name string, opts ...nats.Option) *nats.Conn {
	b.tb.Helper()
	opts = append([]nats.Option{
		nats.Name(name),
		nats.InProcessServer(b.Dialer(name)),
		nats.MaxReconnects(-1),
	}, opts...)
	nc, err := nats.Connect("", opts...)
	if err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(nc.Close)
	return nc
}

// Dialer returns the way to the broker for a client that the test does not
// connect itself. The client's traffic is subject to the partitions of name.
func (b *Broker) Dialer(name string) nats.InProcessConnProvider { return dialer{b, name} }

// Partition makes name's connections swallow everything in both directions, as a
// network that drops packets does: neither side sees an error.
func (b *Broker) Partition(name string) { b.set(name, fault{toBroker: true, toClient: true}) }

// Deafen makes name's connections swallow what the broker says, while the broker
// still hears them: requests have their effect, and their answers are lost.
func (b *Broker) Deafen(name string) { b.set(name, fault{toClient: true}) }

// Lag puts the consumers that name's connections make from now on, and what they read directly,
// where a replica would be that was cut off and has nothing yet: they find none of what is
// stored. What is stored later, consumers find.
func (b *Broker) Lag(name string) { b.set(name, fault{lags: true}) }

// Depose has what name's connections ask the leader of a stream for, one message at a time or how the
// stream is, answered as by a server that was cut off from the others, and has not heard yet that
// another one leads: it knows nothing of what is stored.
func (b *Broker) Depose(name string) { b.set(name, fault{deposed: true}) }

// Outdate is [Broker.Lag] and [Broker.Depose] at once: whichever way name's connections read, they find
// nothing that is stored.
func (b *Broker) Outdate(name string) { b.set(name, fault{lags: true, deposed: true}) }

// DeposeAt is Depose from the first request on that has a text in it. So what was asked before, the true
// leader has answered.
func (b *Broker) DeposeAt(name, request string) { b.set(name, fault{deposedBy: request}) }

// Mute makes name's connections swallow what the client says, while it still hears the
// broker.
func (b *Broker) Mute(name string) { b.set(name, fault{toBroker: true}) }

// LoseAcks makes name's acknowledgements of messages get lost: all that is left of each is
// a sign of life.
func (b *Broker) LoseAcks(name string) { b.set(name, fault{noAcks: true}) }

// LoseEventAcks has name's connections not learn that what they publish to EVT is stored.
func (b *Broker) LoseEventAcks(name string) { b.set(name, fault{noEvtAcks: true}) }

// Silence makes one stream silent for all clients, as if most of its replicas were away: NATS answers no
// request about it, and acknowledgements of its messages have no effect. One stream at most is silent;
// "" ends the silence.
func (b *Broker) Silence(stream string) {
	b.tb.Helper()
	nc := b.Connect("silence")
	if _, err := nc.SubscribeSync("$JS.XPI.>"); err != nil { // else there were an answer: that nobody is there
		b.tb.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		b.tb.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.silent = nil; stream != "" {
		b.silent = regexp.MustCompile(`(?m)^(H?PUB \$JS\.)A(PI|CK)(\.(?:\S+\.)?` + regexp.QuoteMeta(stream) + `[. ])`)
	}
	for _, c := range b.cables {
		for l := range c.links {
			l.silence(b.silent)
		}
	}
}

// Heal ends what Partition, Deafen, Mute, LoseAcks, LoseEventAcks, Lag, Depose, DeposeAt or Outdate
// began. Connections that were cut die, as one side may have missed bytes; the client reconnects.
func (b *Broker) Heal(name string) {
	b.set(name, fault{})
	b.mu.Lock()
	c := b.cableLocked(name)
	dead := make([]*link, 0, len(c.links))
	for l := range c.links {
		if l.damaged() {
			dead = append(dead, l)
		}
	}
	b.mu.Unlock()
	for _, l := range dead {
		_ = l.Close() // a pipe's Close has nothing to report
	}
}

func (b *Broker) set(name string, f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.cableLocked(name)
	c.fault = f
	for l := range c.links {
		l.set(f)
	}
}

func (b *Broker) cableLocked(name string) *cable {
	c := b.cables[name]
	if c == nil {
		c = &cable{links: map[*link]struct{}{}}
		b.cables[name] = c
	}
	return c
}

type dialer struct {
	b    *Broker
	name string
}

// InProcessConn implements [nats.InProcessConnProvider].
func (d dialer) InProcessConn() (net.Conn, error) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	c := d.b.cableLocked(d.name)
	if d.b.srv == nil || c.fault.loses() {
		return nil, errUnreachable
	}
	conn, err := d.b.srv.InProcessConn()
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn, fault: c.fault, silent: d.b.silent}
	l.closed = func() {
		d.b.mu.Lock()
		delete(c.links, l)
		d.b.mu.Unlock()
	}
	c.links[l] = struct{}{}
	return l, nil
}
