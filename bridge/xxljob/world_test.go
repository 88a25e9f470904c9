package xxljob_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/admin"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler"
)

var start = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

const token = "token-of-the-tests"

// world is a cluster with a scheduler, on virtual time, and a network for HTTP that has bridges and
// executors of XXL-JOB on it.
type world struct {
	*testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	net    *network
	ctx    context.Context // that of the test
	saved  uint64          // revision of the job that was saved last
	logger *slog.Logger    // of bridges

	mu     sync.Mutex
	ends   map[job.RunID][]*bus.Event // finished events, as servers read them
	begins []*bus.Event
	lines  map[job.RunID][]bus.LogLine
	last   map[job.RunID]bool // runs of which the bridge has stored the last line
	packs  int                // of ends
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	runOn(t, bustest.NewBroker, 1, f)
}

// runOn is run with a broker that the test makes, and with so many partitions.
func runOn(t *testing.T, broker func(testing.TB) *bustest.Broker, n bus.Partitions, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{T: t, broker: broker(t), net: newNetwork(), logger: logger(), ends: map[job.RunID][]*bus.Event{}, lines: map[job.RunID][]bus.LogLine{}, last: map[job.RunID]bool{}}
		ctx, stop := context.WithCancel(t.Context())
		w.ctx = ctx
		w.conn = clustertest.SetupAs(t, w.broker, "test", cluster.Assets{Shards: 4, Partitions: n})
		s, err := scheduler.New(w.connect("node"), scheduler.Config{Node: "node", Logger: logger()})
		w.check(err)
		var all sync.WaitGroup
		all.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		for _, stream := range w.conn.Evts() {
			all.Go(func() { w.hear(stream, "evt.>", w.heardEvent) })
		}
		all.Go(func() { w.hear(bus.StreamLog, "log.>", w.heardLines) })
		t.Cleanup(func() { stop(); all.Wait() })
		f(w)
	})
}

func logger() *slog.Logger {
	if os.Getenv("CARILLON_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) connect(name string) *cluster.Conn {
	w.Helper()
	return clustertest.Open(w, w.broker, name)
}

// hear follows a stream.
func (w *world) hear(stream, filter string, yield func(*jet.Stored)) {
	if err := w.conn.Follow(w.ctx, stream, []string{filter}, 1, yield); err != nil && w.ctx.Err() == nil {
		w.Error(err)
	}
}

func (w *world) heardEvent(m *jet.Stored) {
	if bus.IsBarrier(m.Subject) {
		return
	}
	if _, _, packed := bus.ParseSubjectEnds(m.Subject); packed {
		w.mu.Lock()
		w.packs++
		w.mu.Unlock()
	}
	for e, err := range w.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
		if err != nil {
			w.Errorf("event %s: %v", m.Data, err)
			return
		}
		w.noteEvent(e)
	}
}

func (w *world) noteEvent(e *bus.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case bus.EventFinished:
		w.ends[e.RunID] = append(w.ends[e.RunID], e)
	case bus.EventStarted:
		w.begins = append(w.begins, e)
	case bus.EventProgress, bus.EventHeld:
	}
}

func (w *world) heardLines(m *jet.Stored) {
	l, err := w.conn.Events().DecodeLog(m.Subject, m.Header, m.Data)
	if err != nil {
		w.Errorf("lines %s: %v", m.Data, err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[l.RunID] = append(w.lines[l.RunID], l.Lines...)
	if l.Last {
		w.last[l.RunID] = true
	}
}

// save saves a job and returns its name.
func (w *world) save(name string, task job.Task, change ...func(*job.Job)) job.Name {
	w.Helper()
	j := job.Job{Job: job.Name(name), Task: task}
	for _, c := range change {
		c(&j)
	}
	entry, _, err := w.conn.Jobs().Put(w.ctx, j, cluster.Edit{At: time.Now(), Author: "test"})
	w.check(err)
	w.saved = entry.Revision
	return j.Job
}

// begin asks for a run of a job.
func (w *world) begin(name job.Name, params ...string) job.RunID {
	w.Helper()
	r := bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: name, Cause: job.CauseManual}
	if len(params) > 0 {
		r.Params = []byte(params[0])
	}
	w.until("run "+string(name), 10*time.Second, func() bool {
		return w.conn.Shards().AskOwner(w.ctx, name, "trigger", w.saved, r, &bus.TriggerReply{}, time.Second) == nil
	})
	return r.RunID
}

// until waits for a condition, on virtual time.
func (w *world) until(what string, limit time.Duration, is func() bool) {
	w.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > limit {
			w.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// end waits for the end of a run, and wants one only.
func (w *world) end(id job.RunID, limit time.Duration) *bus.Event {
	w.Helper()
	w.until("end of run "+string(id), limit, func() bool { return len(w.endsOf(id)) > 0 })
	return w.endsOf(id)[0]
}

// wantEnd waits for the end of a run, which is to be as given.
func (w *world) wantEnd(id job.RunID, limit time.Duration, status job.Status, message string) *bus.Event {
	w.Helper()
	e := w.end(id, limit)
	if e.Status != status || !strings.Contains(e.Message, message) {
		w.Errorf("run ended as %s: %q; want %s: %q", e.Status, e.Message, status, message)
	}
	return e
}

func (w *world) endsOf(id job.RunID) []*bus.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ends[id])
}

// log returns the lines of a run in order, without repeats.
func (w *world) log(id job.RunID) []string { all, _ := w.logOf(id); return all }

// saidLast reports whether all lines of a run are said to have come.
func (w *world) saidLast(id job.RunID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[id]
}

// lastSeq returns the number of the last line of a run.
func (w *world) lastSeq(id job.RunID) int64 { _, last := w.logOf(id); return last }

func (w *world) logOf(id job.RunID) (all []string, last int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	bySeq := map[int64]string{}
	for _, l := range w.lines[id] {
		if text, known := bySeq[l.Seq]; known && text != l.Text {
			w.Errorf("line %d is %q and %q", l.Seq, text, l.Text)
		}
		bySeq[l.Seq] = l.Text
	}
	for _, seq := range slices.Sorted(maps.Keys(bySeq)) {
		all, last = append(all, bySeq[seq]), seq
	}
	return all, last
}

// triggers returns how many triggers are not acknowledged.
func (w *world) triggers() int {
	n := 0
	w.check(w.conn.Scan(w.ctx, bus.StreamTrig, "trig.>", func(*jet.Stored) bool { n++; return true }))
	return n
}

// bridge is one that runs, with what it serves.
type bridge struct {
	w    *world
	name string
	*xxljob.Bridge
	conn   *cluster.Conn
	stop   context.CancelFunc
	done   chan struct{}
	server *http.Server
}

// startBridge starts a bridge at http://<name>:8080.
func (w *world) startBridge(name string) *bridge {
	w.Helper()
	conn := w.connect(name)
	tokens, err := admin.ReadTokens(token, false)
	w.check(err)
	cfg := xxljob.Config{Token: tokens.Of, Dial: w.net.dial, Logger: w.logger.With("bridge", name)}
	b, err := xxljob.New(conn.Conn, cfg)
	w.check(err)
	handler := admin.New(b, admin.Config{Tokens: tokens, Refuse: func(string) error { return nil }, Logger: cfg.Logger})
	ctx, stop := context.WithCancel(w.ctx)
	r := &bridge{w: w, name: name, Bridge: b, conn: conn, stop: stop, done: make(chan struct{}), server: handler.Server()}
	l := w.net.listen(name + ":8080")
	var all sync.WaitGroup
	all.Go(func() {
		if err := b.Run(ctx); err != nil {
			w.Error(err)
		}
	})
	all.Go(func() { _ = r.server.Serve(l) })
	go func() { all.Wait(); close(r.done) }()
	w.Cleanup(r.end)
	return r
}

// end stops a bridge in an orderly way.
func (b *bridge) end() {
	_ = b.server.Close()
	b.stop()
	<-b.done
	b.conn.NC.Close()
}

// kill ends a bridge as SIGKILL does: from this instant on it says nothing to anybody.
func (b *bridge) kill() {
	b.w.broker.Partition(b.name)
	b.w.net.cut(b.name + ":8080")
	b.end()
	b.w.broker.Heal(b.name)
}

// executor is a stand-in for one of XXL-JOB that runs.
type executor struct {
	*xxlstandin.Executor
	address string
	kill    func() // ends it as SIGKILL does
}

// startExecutor starts an executor at an address, such as 10.0.0.1:9999.
func (w *world) startExecutor(address string, handlers map[string]xxlstandin.Handler, change ...func(*xxlstandin.Config)) *executor {
	w.Helper()
	transport := &http.Transport{DialContext: w.net.dialFrom(address)}
	cfg := xxlstandin.Config{
		AppName: "billingApp", Address: "http://" + address, Admins: []string{"http://one:8080", "http://two:8080/xxl-job-admin"}, Token: token,
		Client: &http.Client{Timeout: 3 * time.Second, Transport: transport},
	}
	for _, c := range change {
		c(&cfg)
	}
	e := xxlstandin.New(cfg, handlers)
	ctx, stop := context.WithCancel(w.ctx)
	l := w.net.listen(address)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Serve(ctx, l); err != nil {
			w.Error(err)
		}
		transport.CloseIdleConnections()
	}()
	kill := sync.OnceFunc(func() { w.net.cut(address); stop(); <-done })
	w.Cleanup(kill)
	return &executor{e, address, kill}
}

// online waits until instances of group billing-app are online.
func (w *world) online(n int) {
	w.Helper()
	w.until(fmt.Sprintf("%d instances online", n), 30*time.Second, func() bool { return len(w.instances()) == n })
}

func (w *world) instances() []string {
	w.Helper()
	all, err := w.conn.Instances().List(w.ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, i := range all {
		if i.Group == "billing-app" && i.Alive() {
			names = append(names, i.Instance)
		}
	}
	slices.Sort(names)
	return names
}

// network is one in memory, for HTTP.
type network struct {
	mu    sync.Mutex
	at    map[string]*listener
	conns map[string][]net.Conn // by the address of either side
	deaf  map[string]func() bool
}

func newNetwork() *network {
	return &network{at: map[string]*listener{}, conns: map[string][]net.Conn{}, deaf: map[string]func() bool{}}
}

func (n *network) listen(address string) net.Listener {
	l := &listener{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at[address] = l
	return l
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	return n.connect(ctx, "", address)
}

func (n *network) dialFrom(from string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) { return n.connect(ctx, from, address) }
}

func (n *network) connect(ctx context.Context, from, address string) (net.Conn, error) {
	n.mu.Lock()
	l, deaf := n.at[address], n.deaf[address]
	n.mu.Unlock()
	if deaf != nil && deaf() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	if l == nil {
		return nil, refused
	}
	mine, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
	case <-l.closed:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, side := range []string{from, address} {
		n.conns[side] = append(n.conns[side], mine, theirs)
	}
	return mine, nil
}

// cut closes all connections of an address, at which nobody listens any more.
func (n *network) cut(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.at, address)
	for _, c := range n.conns[address] {
		_ = c.Close()
	}
	delete(n.conns, address)
}

type listener struct {
	address string
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return memory(l.address) }

// memory is an address of the network in memory.
type memory string

func (memory) Network() string  { return "memory" }
func (m memory) String() string { return string(m) }

// started reports whether a started event of a run is stored.
func (w *world) started(id job.RunID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.begins, func(e *bus.Event) bool { return e.RunID == id })
}

// cancel ends a run, as the API does.
func (w *world) cancel(name job.Name, id job.RunID) {
	w.Helper()
	w.check(w.conn.Shards().AskOwner(w.ctx, name, "cancel", 0, bus.CancelRequest{RunID: id, Job: name, By: "ann"}, &bus.CancelReply{}, 5*time.Second))
}

// filter has connections to an address be accepted by nobody for as long as deaf says so.
func (n *network) filter(address string, deaf func() bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deaf[address] = deaf
	for _, c := range n.conns[address] { // those that are kept open
		_ = c.Close()
	}
	delete(n.conns, address)
}
