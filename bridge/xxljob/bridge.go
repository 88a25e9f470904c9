package xxljob

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// pollEvery is how often the fleet is polled.
	pollEvery = 500 * time.Millisecond
	// takeAtOnce bounds how many instances are taken over at the same time, and releaseAtOnce how
	// many are given up at once: a bridge that comes shall not stop everything.
	takeAtOnce    = 16
	releaseAtOnce = 50
	// logsAtOnce bounds the calls for logs that are open.
	logsAtOnce = 256
	// lastWords is how long the stop of a bridge may take.
	lastWords = 2 * time.Second
)

// Bridge serves executors of XXL-JOB. Its methods for what executors say may be called concurrently,
// also before Run.
type Bridge struct {
	cfg     Config
	id      string
	conn    *jet.Conn
	js      jetstream.JetStream // of our own, so that what is pending ends with us
	store   *state.Store
	peers   *peer.Client
	log     *slog.Logger // in steps: executors can cause most lines
	metrics *metrics

	jobs    *numbers
	scripts *scripts
	blocks  *blocks
	logs    chan struct{} // a token for each call for a log

	members

	work *errgroup.Group // what Run waits for
}

// members is what a bridge knows of the fleet, and which part of it is its own.
type members struct {
	mu      sync.Mutex
	table   *table
	serving map[string]*instance // by key
	taking  map[string]bool      // are being taken over, or tried
	groups  map[string]*group
	beaten  map[string]time.Time // when a beat was stored last
	named   map[string]bool      // groups whose AppName is checked
}

func newMembers(me string) members {
	return members{
		table: newTable(me), serving: map[string]*instance{}, taking: map[string]bool{}, groups: map[string]*group{},
		beaten: map[string]time.Time{}, named: map[string]bool{},
	}
}

// New returns a bridge on conn, which stays the caller's. The error has an *InvalidError for each wrong
// field of cfg.
func New(conn *jet.Conn, cfg Config) (*Bridge, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure bridge: %w", err)
	}
	js, err := jetstream.New(conn.NC, jetstream.WithDefaultTimeout(jet.BatchTimeout), jetstream.WithPublishAsyncTimeout(5*time.Second), jetstream.WithPublishAsyncMaxPending(1<<16))
	if err != nil {
		return nil, fmt.Errorf("configure bridge: %w", err)
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	id := "b" + strings.ToLower(nuid.Next())
	store := state.New(conn, cfg.Groups...)
	return &Bridge{
		cfg: cfg, id: id, conn: conn, js: js, store: store, peers: peer.New(cfg.Dial, cfg.CallTimeout, cfg.Trust), log: doubling.Logger(cfg.Logger), metrics: m,
		jobs: &numbers{conn: conn, store: store, least: cfg.FirstJobID, known: map[job.Name]int32{}, spare: map[string][]int32{}}, scripts: &scripts{conn: conn, known: map[string]string{}},
		blocks: &blocks{store: store, known: map[string]state.Block{}}, logs: make(chan struct{}, logsAtOnce),
		members: newMembers(id),
	}, nil
}

// CheckCredential returns an *InvalidError if the credential of the connection does not cover all groups
// of the configuration. Call it before [Bridge.Run].
func (b *Bridge) CheckCredential(ctx context.Context) error { return b.store.CheckCredential(ctx) }

// Run serves until ctx is done, and returns nil then. Runs go on at their executors: another bridge
// takes them over, or the next one.
func (b *Bridge) Run(ctx context.Context) error {
	defer b.js.CleanupPublisher()
	defer b.peers.Close()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	b.work = &errgroup.Group{}
	b.log.InfoContext(ctx, "bridge started", "bridge", b.id, "groups", b.cfg.Groups)
	b.follow(ctx, life)
	end()
	err := b.work.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	for _, group := range b.heralded() {
		if err := b.store.RemoveBridge(state.Bridge{ID: b.id, Group: group}); err != nil {
			b.log.DebugContext(last, "bridge not removed", "error", err)
		}
	}
	_ = b.conn.NC.FlushWithContext(last) // so that it has left before the caller closes
	b.log.InfoContext(last, "bridge stopped", "bridge", b.id)
	return err
}

// follow keeps up with the fleet until ctx is done. Instances are served in life.
func (b *Bridge) follow(ctx, life context.Context) {
	tail := b.store.Tail()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	renewed := time.Time{}
	for {
		now := time.Now()
		if now.Sub(renewed) >= state.RenewEvery && b.conn.NC.IsConnected() {
			if err := b.renew(ctx); err == nil {
				renewed = now
			} else if ctx.Err() == nil {
				b.log.DebugContext(ctx, "bridge not renewed", "error", err)
			}
		}
		b.poll(ctx, life, tail)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renew stores for each group that the bridge lives.
func (b *Bridge) renew(ctx context.Context) (err error) {
	for _, group := range b.heralded() {
		err = errors.Join(err, b.store.PutBridge(ctx, state.Bridge{ID: b.id, Group: group}))
	}
	return err
}

// heralded returns the groups in which the bridge says that it lives. One for all groups says so in those
// that it knows, too, since bridges of these groups may hear of nothing else.
func (b *Bridge) heralded() []string {
	if len(b.cfg.Groups) > 0 {
		return b.cfg.Groups
	}
	return append(b.served(), everyGroup)
}

// served returns the groups that the bridge serves: of all groups, those that it knows.
func (b *Bridge) served() []string {
	if len(b.cfg.Groups) > 0 {
		return b.cfg.Groups
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	groups := map[string]bool{}
	for group := range b.named {
		groups[group] = true
	}
	for _, k := range b.table.instances {
		groups[k.Group] = true
	}
	return slices.Sorted(maps.Keys(groups))
}

// poll reads news, and does what follows from them.
func (b *Bridge) poll(ctx, life context.Context, tail *state.Tail) {
	var news []state.Change
	err := tail.Poll(ctx, func(c state.Change) { news = append(news, c) })
	now := time.Now()
	b.mu.Lock()
	for _, c := range news {
		b.table.apply(c, now)
	}
	if err == nil {
		b.table.polledAt(now)
	}
	b.table.tidy(now)
	lost := b.lostLocked()
	var due []dueAct
	if err == nil {
		due = b.dueActsLocked(now)
	}
	b.mu.Unlock()
	for _, i := range lost {
		i.drop("another bridge serves it")
	}
	if err == nil { // else silence says nothing
		b.notify(now)
	}
	b.fulfil(life, due)
	if err != nil && ctx.Err() == nil && !errors.Is(err, job.ErrUnavailable) {
		b.log.WarnContext(ctx, "executors not read", "error", err)
	}
}

// lostLocked returns the instances that we serve and that are another bridge's by now.
func (m *members) lostLocked() []*instance {
	var lost []*instance
	for key, i := range m.serving {
		if k := m.table.instances[key]; k != nil && k.Holder != m.table.me && i.held.isBehind(k.revision) {
			lost = append(lost, i)
		}
	}
	return lost
}

// dueActsLocked returns the acts that are due, without those that are under way.
func (m *members) dueActsLocked(now time.Time) []dueAct {
	var due []dueAct
	released := 0
	for _, w := range m.table.dueActs(now) {
		switch i := m.serving[w.key]; {
		case m.taking[w.key], (i != nil) != (w.act == release):
			continue
		case w.act == release:
			if released++; released > releaseAtOnce || !i.idle() {
				continue
			}
		default:
			m.taking[w.key] = true
		}
		due = append(due, w)
	}
	for key, k := range m.table.instances { // which we took, and failed to begin to serve
		if k.Holder == m.table.me && m.serving[key] == nil && !m.taking[key] {
			m.taking[key] = true
			due = append(due, dueAct{adopt, key})
		}
	}
	return due
}

// notify passes on what was heard of the executors of our instances.
func (m *members) notify(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, i := range m.serving {
		i.registered(m.table.registered(key, now))
	}
}

// fulfil starts the acts, several at the same time, and does not wait for them.
func (b *Bridge) fulfil(life context.Context, due []dueAct) {
	if len(due) == 0 {
		return
	}
	b.work.Go(func() error {
		var g errgroup.Group
		g.SetLimit(takeAtOnce)
		for _, w := range due {
			g.Go(func() error {
				b.do(life, w)
				return nil
			})
		}
		return g.Wait()
	})
}

// do does one thing about an instance.
func (b *Bridge) do(life context.Context, w dueAct) {
	b.mu.Lock()
	k, beat, i := b.table.instances[w.key], b.table.beats[w.key], b.serving[w.key]
	var is state.Instance
	var revision uint64
	if k != nil {
		is, revision = k.Instance, k.revision
	}
	b.mu.Unlock()
	var err error
	switch {
	case w.act == release:
		if i != nil {
			err = i.release(life)
		}
	case w.act == bury:
		err = b.store.RemoveInstance(life, is.Group, is.Instance, revision)
	case w.act == forget:
		is.Drained = false
		_, err = b.store.PutInstance(life, &is, revision)
	case w.act == adopt && k != nil:
		err = b.adopt(life, is, revision)
	case w.act == attach && beat != nil:
		if k == nil {
			is = state.Instance{Group: beat.Group, Instance: beat.Instance, AppName: beat.AppName, Secret: bus.NewControlSecret()}
		}
		is.Address, is.AppName = beat.Address, beat.AppName
		if beat.Dialect != "" {
			is.Dialect = beat.Dialect
		}
		err = b.attach(life, is, revision)
	}
	b.mu.Lock()
	delete(b.taking, w.key)
	b.mu.Unlock()
	if err != nil && life.Err() == nil && !errors.Is(err, job.ErrConflict) { // another was faster
		b.log.WarnContext(life, "instance not taken over", "executor_group", is.Group, "instance", w.key, "error", err)
	}
}

// instance returns the one that we serve under a key, nil if we do not.
func (m *members) instance(key string) *instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.serving[key]
}

// token returns what the executors of a group must show, and are shown.
func (b *Bridge) token(group string) string { return b.cfg.Token(group) }
