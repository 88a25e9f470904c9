package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	tickEvery = time.Second
	// signEvery is how often a run is said to live; the trigger comes again after bus.AckWait.
	signEvery = bus.AckWait / 3
	// An executor is asked whether it lives every askEvery, every askOften while it has runs, and
	// counts as gone after maxSilent calls in a row without an answer.
	askEvery  = 15 * time.Second
	askOften  = 5 * time.Second
	maxSilent = 3
	// killAnyway is how long an executor that is to end a run waits until its end is stored.
	killAnyway = 2 * time.Second
	// doneFor is how long an attempt that has ended here is remembered.
	doneFor = time.Hour
	maxDone = 16384
)

// errLeft is why an instance's context ends that is not served any more.
var errLeft = errors.New("the instance is not served any more")

// instance is one that this bridge serves.
type instance struct {
	b      *Bridge
	name   string
	group  *group
	log    logger
	cancel context.CancelCauseFunc
	sub    *nats.Subscription
	start  chan *run     // accepted, to be begun
	ended  chan struct{} // closed when no more are begun

	dropped sync.Once
	numbers logIDs
	held    *tenure
	out     *reporter

	mu    sync.Mutex // guards what follows
	live  map[bus.AttemptRef]*run
	byLog map[int64]*run
	occupied
	standing
	contact
	beats
}

// contact is what the calls to an executor have shown.
type contact struct {
	asked    time.Time
	asking   bool
	silent   int
	silentAt time.Time // when it last grew
	shown    evidence
}

// beats is what heartbeats of an instance say of its messages, and when the last one was sent.
type beats struct {
	refused  int            // messages of ours, by servers
	refusal  *fleet.Refusal // of the last of them
	lastBeat time.Time
}

func newInstance(b *Bridge, g *group, is state.Instance, revision uint64, cancel context.CancelCauseFunc) *instance {
	i := &instance{
		b: b, name: is.Instance, group: g, log: b.log.With("executor_group", is.Group, "instance", is.Instance), cancel: cancel, start: make(chan *run, 64), ended: make(chan struct{}),
		numbers: logIDs{giving: make(chan struct{}, 1)}, held: &tenure{store: b.store, bridge: b.id, is: is, revision: revision},
		live: map[bus.AttemptRef]*run{}, byLog: map[int64]*run{}, occupied: occupied{busy: map[job.Name]bool{}, stray: map[job.Name]stray{}},
		standing: standing{leaving: is.Drained}, contact: contact{shown: evidence{saidBusy: is.SaysBusy}},
	}
	i.out = newReporter(b, i.name, i.log)
	return i
}

// listen begins to take requests, and makes the instance known.
func (i *instance) listen(ctx context.Context) (err error) {
	is := i.held.current()
	control := is.Control()
	if i.sub, err = i.b.conn.NC.Subscribe(control.Subject("*"), func(m *nats.Msg) { i.request(ctx, control, m) }); err != nil {
		return err
	}
	m, err := i.heartbeat(time.Now())
	if err == nil {
		_, err = i.b.js.PublishMsg(ctx, m) // stored before anything is pulled for it
	}
	if err != nil {
		_ = i.sub.Unsubscribe() // fails only when the connection is closed
	}
	return err
}

// run looks after the instance until ctx is done, and waits for its runs.
func (i *instance) run(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	var runs sync.WaitGroup
	i.mu.Lock()
	for _, r := range i.live {
		if r.resumed { // others are accepted already, and come by the channel
			runs.Go(func() { i.attempt(r).carry(ctx) })
		}
	}
	i.mu.Unlock()
	for ctx.Err() == nil {
		i.tick(ctx, time.Now())
		select {
		case <-ctx.Done():
		case r := <-i.start:
			runs.Go(func() { i.attempt(r).carry(ctx) })
		case <-tick.C:
		}
	}
	close(i.ended)
	_ = i.sub.Unsubscribe() // fails only when the connection is closed
	runs.Wait()
}

// drop ends the service without a word: another bridge has the instance, or none.
func (i *instance) drop(why string) {
	i.dropped.Do(func() {
		i.mu.Lock()
		i.gone = true
		i.mu.Unlock()
		i.log.Info("instance given up", "reason", why)
		i.cancel(errLeft)
	})
}

// release gives the instance to whichever bridge is to have it, if it has no runs.
func (i *instance) release(ctx context.Context) error {
	i.mu.Lock()
	if len(i.live) > 0 || i.gone {
		i.mu.Unlock()
		return nil
	}
	i.gone = true
	i.mu.Unlock()
	err := i.held.change(ctx, func(is *state.Instance) { is.Holder = "" })
	i.drop("another bridge is to serve it")
	return err
}

func (i *instance) idle() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.live) == 0
}

// target returns how the executor is called.
func (i *instance) target() peer.Target {
	is := i.held.current()
	return peer.Target{Address: is.Address, AppName: is.AppName, Token: i.b.token(is.Group), Dialect: is.Dialect}
}

// ack returns where the trigger of a run is answered.
func (i *instance) ack(r *run) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return r.kept.Ack
}

// registered records what is known of the executor's registration; nil is that there is none.
func (i *instance) registered(beat *heardBeat) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.absent = beat == nil
	i.removed = beat != nil && beat.Removed
}

// tick does what is due without a message.
func (i *instance) tick(ctx context.Context, now time.Time) {
	i.mu.Lock()
	var sign []string
	for _, r := range i.live {
		if now.Sub(r.signed) >= signEvery-tickEvery {
			r.signed = now
			sign = append(sign, r.kept.Ack)
		}
	}
	ask := !i.asking && (now.Sub(i.asked) >= askEvery || now.Sub(i.asked) >= askOften && len(i.live)+i.silent+len(i.stray) > 0 ||
		len(i.live) > 0 && !i.shown.complete()) // only that nobody listens tells that it was restarted
	if ask {
		i.asking, i.asked = true, now
	}
	dead := i.silent >= maxSilent
	leave := (i.removed || i.leaving || i.absent) && len(i.live) == 0
	overdue := i.isOverdue(now)
	beat := now.Sub(i.lastBeat) >= fleet.HeartbeatEvery
	i.mu.Unlock()
	for _, ack := range sign {
		i.b.answer(ack, "+WPI")
	}
	switch {
	case dead && i.b.conn.NC.IsConnected(): // else nothing can be said
		i.offline(ctx, "its executor does not answer")
	case leave:
		i.offline(ctx, "")
	case overdue:
		i.cutOffAll()
	}
	if beat {
		i.beat(now)
	}
	if ask {
		i.b.work.Go(func() error { i.ask(ctx); return nil })
	}
}

// ask asks the executor whether it lives, and whether jobs are idle whose runs it was told to end.
func (i *instance) ask(ctx context.Context) {
	err := i.b.peers.Beat(ctx, i.target())
	i.mu.Lock()
	i.asking = false
	strays := map[job.Name]stray{}
	now := time.Now()
	i.shown.called(err, now)
	if err == nil {
		i.silent = 0
		maps.Copy(strays, i.stray)
	} else if ctx.Err() == nil && (i.silent == 0 || now.Sub(i.silentAt) >= askOften-tickEvery) {
		i.silent, i.silentAt = i.silent+1, now
	}
	probe := err == nil && !i.shown.saidIdle && now.Sub(i.shown.probed) >= probeEvery
	if probe {
		i.shown.probed = now
	}
	i.mu.Unlock()
	if probe {
		_, _, _ = i.idleAt(ctx, unusedJob) // if it fails, that says nothing
	}
	for name, s := range strays {
		if time.Now().Before(s.until) {
			continue
		}
		// Whoever always says that it is busy must not keep the job from running.
		if idle, sure, err := i.idleAt(ctx, s.jobID); !errors.Is(err, peer.ErrNotSent) && (idle || !sure) {
			i.mu.Lock()
			i.free(name)
			i.mu.Unlock()
		}
	}
}

// stray is a run that we have ended, and whose executor may still do it. One that is told to kill a job
// says at once that the job is idle, whether its handler listens or not. It reports the run when the
// handler has returned: until then, but not for ever, its job is busy.
type stray struct {
	jobID int32
	logID int64
	until time.Time
}

// occupied has the jobs whose runs an instance refuses.
type occupied struct {
	busy  map[job.Name]bool  // jobs with a run here, or whose executor may still do one that has ended
	stray map[job.Name]stray // of these, the latter
}

// free ends that a job is busy.
func (o *occupied) free(name job.Name) {
	delete(o.stray, name)
	delete(o.busy, name)
}

// returned handles an executor's report of a run that the bridge ended before.
func (o *occupied) returned(logID int64) {
	for name, s := range o.stray {
		if s.logID == logID {
			o.free(name)
		}
	}
}

// offline ends the service of an instance whose executor is gone, or has left. Its runs end by the
// policies of their jobs.
func (i *instance) offline(ctx context.Context, why string) {
	i.mu.Lock()
	if i.gone {
		i.mu.Unlock()
		return
	}
	i.gone = true
	runs := i.all()
	drained := i.leaving
	i.mu.Unlock()
	if why != "" {
		i.log.WarnContext(ctx, "executor gone", "reason", why, "runs", len(runs))
	}
	i.b.work.Go(func() error {
		for _, r := range runs {
			r.giveUp(giveUp{why: why, kind: gone})
		}
		for _, r := range runs {
			select {
			case <-r.over:
			case <-ctx.Done():
				return nil
			}
		}
		err := i.held.change(ctx, func(is *state.Instance) { is.Holder, is.Offline, is.Drained = "", true, drained })
		i.beatGone()
		if err != nil && ctx.Err() == nil {
			i.log.WarnContext(ctx, "instance not given up", "error", err)
		}
		i.drop("its executor is gone")
		return nil
	})
}

// cutOffAll ends runs of an instance that has drained for long enough.
func (i *instance) cutOffAll() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.all() {
		r.giveUp(giveUp{why: "the executor was drained, and its time was over", kind: drained})
	}
}

// all returns the live runs. The caller holds the lock.
func (i *instance) all() []*run {
	runs := make([]*run, 0, len(i.live))
	for _, r := range i.live {
		runs = append(runs, r)
	}
	return runs
}

// slots returns how many runs the instance may have.
func (i *instance) slots(is *state.Instance) int {
	if is.Slots > 0 {
		return min(is.Slots, maxSlots)
	}
	return i.b.cfg.Slots
}

// room returns how many more runs the instance takes.
func (i *instance) room() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	is := i.held.current()
	if i.state(is.Cordoned) != fleet.InstanceOnline || i.silent > 0 {
		return 0
	}
	return max(i.slots(&is)-len(i.live), 0)
}

// kinds are those of tasks that executors of XXL-JOB do.
var kinds = []string{job.KindHandler, job.KindScript}

// heartbeat returns what the instance says of itself now.
func (i *instance) heartbeat(now time.Time) (*nats.Msg, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	is := i.held.current()
	host := ""
	if u, err := url.Parse(is.Address); err == nil {
		host = u.Host
	}
	version := is.Dialect.Versions()
	if is.Old {
		version = "2.2"
	}
	beat := bus.Heartbeat{ControlSecret: is.Secret, Bridge: i.b.id, Instance: fleet.Instance{
		Group: is.Group, Instance: is.Instance, State: i.state(is.Cordoned), Kinds: kinds, Handlers: []string{fleet.AnyHandler},
		Slots: i.slots(&is), Running: len(i.live), DrainBy: i.drainBy, Labels: is.Labels, Zone: is.Labels["zone"],
		Protocol: fleet.Protocol, Version: version, SDK: is.Dialect.SDK(), Host: host, StartedAt: is.Since, At: now.UTC().Truncate(time.Millisecond),
		Refused: i.refused, Refusal: i.refusal,
	}}
	i.lastBeat = now
	data, err := json.Marshal(beat)
	if err != nil {
		return nil, fmt.Errorf("encode heartbeat: %w", err)
	}
	return &nats.Msg{Subject: bus.SubjectHeartbeat(is.Group, is.Instance), Data: data}, nil
}

// beat says that the instance is there. The next one makes up for one that is lost.
func (i *instance) beat(now time.Time) {
	m, err := i.heartbeat(now)
	if err == nil {
		err = i.b.conn.NC.PublishMsg(m)
	}
	if err != nil {
		i.log.Debug("heartbeat not sent", "error", err)
	}
}

func (i *instance) beatGone() {
	m := &nats.Msg{Subject: bus.SubjectHeartbeat(i.group.name, i.name), Header: nats.Header{"KV-Operation": {"DEL"}}}
	if err := i.b.conn.NC.PublishMsg(m); err != nil {
		i.log.Debug("heartbeat not removed", "error", err)
	}
}
