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
	lookEvery = time.Second
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
	// numbering has a value while a run gets its log id, so that log ids rise. numbers are ours to give,
	// since the instant numbered.
	numbering chan struct{}
	numbers   []int64
	numbered  time.Time
	// storing is held while the instance itself is written.
	storing sync.Mutex

	mu       sync.Mutex
	is       state.Instance
	revision uint64 // the fence
	live     map[bus.AttemptRef]*run
	byLog    map[int64]*run
	busy     map[job.Name]bool  // jobs with a run here, or whose executor may still do one that has ended
	stray    map[job.Name]stray // of these, the latter
	gone     bool               // it takes nothing
	leaving  bool               // drains
	removed  bool               // its executor has said that it leaves
	absent   bool               // its executor has not registered for too long
	drainBy  time.Time
	refused  int            // messages of ours, by servers
	refusal  *fleet.Refusal // of the last of them
	lastBeat time.Time
	asked    time.Time
	asking   bool
	silent   int
	silentAt time.Time // when it last grew
	shown    evidence
}

func newInstance(b *Bridge, g *group, is state.Instance, revision uint64, cancel context.CancelCauseFunc) *instance {
	return &instance{
		b: b, name: is.Instance, group: g, log: b.log.With("executor_group", is.Group, "instance", is.Instance), cancel: cancel, is: is, revision: revision, start: make(chan *run, 64), ended: make(chan struct{}), numbering: make(chan struct{}, 1),
		live: map[bus.AttemptRef]*run{}, byLog: map[int64]*run{}, busy: map[job.Name]bool{}, stray: map[job.Name]stray{}, leaving: is.Drained,
		shown: evidence{saidBusy: is.SaysBusy},
	}
}

// listen begins to take requests, and makes the instance known.
func (i *instance) listen(ctx context.Context) (err error) {
	control := i.is.Control()
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
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var runs sync.WaitGroup
	i.mu.Lock()
	for _, r := range i.live {
		if r.resumed { // others are accepted already, and come by the channel
			runs.Go(func() { i.carry(ctx, r) })
		}
	}
	i.mu.Unlock()
	for ctx.Err() == nil {
		i.look(ctx, time.Now())
		select {
		case <-ctx.Done():
		case r := <-i.start:
			runs.Go(func() { i.carry(ctx, r) })
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
	err := i.change(ctx, func(is *state.Instance) { is.Holder = "" })
	i.drop("another bridge is to serve it")
	return err
}

// change changes what is stored of the instance. The error is job.ErrConflict if it is another's.
func (i *instance) change(ctx context.Context, to func(*state.Instance)) error {
	i.storing.Lock()
	defer i.storing.Unlock()
	i.mu.Lock()
	is, revision := i.is, i.revision
	i.mu.Unlock()
	to(&is)
	next, err := i.b.store.PutInstance(ctx, &is, revision)
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.is, i.revision = is, next
	i.mu.Unlock()
	return nil
}

// put stores a run of the instance. The error is job.ErrConflict once another bridge serves it.
func (i *instance) put(ctx context.Context, r *state.Run) error {
	for {
		f := i.fence()
		err := i.b.store.PutRun(ctx, r, f)
		if !errors.Is(err, job.ErrConflict) {
			return err
		}
		i.storing.Lock() // a change of ours may be under way
		same := i.fence() == f
		i.storing.Unlock()
		if same && !i.refence(ctx, f.Revision) {
			// Another bridge has it, or we cannot know. If it is still ours, we take it over again.
			i.drop("it was changed by another bridge")
			return err
		}
	}
}

// refence finds out whether the instance is still ours, at a later revision: the answer to a change of ours
// may have been lost.
func (i *instance) refence(ctx context.Context, was uint64) bool {
	is, revision, err := i.b.store.Instance(ctx, i.group.name, i.name)
	if err != nil || is.Holder != i.b.id || revision <= was {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.is, i.revision = *is, revision
	return true
}

func (i *instance) fence() state.Fence {
	i.mu.Lock()
	defer i.mu.Unlock()
	return state.Fence{Group: i.is.Group, Instance: i.is.Instance, Revision: i.revision}
}

// behind reports whether a revision is later than ours.
func (i *instance) behind(revision uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return revision > i.revision
}

func (i *instance) idle() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.live) == 0
}

// target returns how the executor is called.
func (i *instance) target() peer.Target {
	i.mu.Lock()
	defer i.mu.Unlock()
	return peer.Target{Address: i.is.Address, AppName: i.is.AppName, Token: i.b.token(i.is.Group), Dialect: i.is.Dialect}
}

// ack returns where the trigger of a run is answered.
func (i *instance) ack(r *run) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return r.kept.Ack
}

// heard takes in what is known of the executor's registration; nil is that there is none.
func (i *instance) heard(beat *heardBeat) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.absent = beat == nil
	i.removed = beat != nil && beat.Removed
}

// look does what is due without a message.
func (i *instance) look(ctx context.Context, now time.Time) {
	i.mu.Lock()
	var sign []string
	for _, r := range i.live {
		if now.Sub(r.signed) >= signEvery-lookEvery {
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
	overdue := i.leaving && !i.drainBy.IsZero() && now.After(i.drainBy)
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
	i.listenedLocked(err, now)
	if err == nil {
		i.silent = 0
		maps.Copy(strays, i.stray)
	} else if ctx.Err() == nil && (i.silent == 0 || now.Sub(i.silentAt) >= askOften-lookEvery) {
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
			delete(i.stray, name)
			delete(i.busy, name)
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

// returned handles an executor's report of a run that the bridge ended before.
func (i *instance) returned(logID int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for name, s := range i.stray {
		if s.logID == logID {
			delete(i.stray, name)
			delete(i.busy, name)
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
		err := i.change(ctx, func(is *state.Instance) { is.Holder, is.Offline, is.Drained = "", true, drained })
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

// cutOff ends a run by the policy of its job, and then at its executor. In that order, and Unheard:
// else the run would fail because we killed it, and would not run again elsewhere. A drain keeps its
// limit also while NATS stores nothing.
func (i *instance) cutOff(ctx context.Context, r *run, why string) {
	r.kept.Unheard = true
	over := make(chan bool, 1)
	t, jobID := r.kept.Trigger, r.kept.JobID
	i.b.work.Go(func() error {
		late := time.NewTimer(killAnyway)
		defer late.Stop()
		select {
		case ours := <-over:
			if !ours {
				return nil
			}
		case <-late.C:
		}
		// The instance may go with its last run. The call has a limit of its own.
		if err := i.b.peers.Kill(context.WithoutCancel(ctx), i.target(), jobID); err != nil {
			i.log.WarnContext(ctx, "run not ended at its executor", "run_id", t.RunID, "error", err)
		}
		return nil
	})
	r.stray = i.endByPolicy(ctx, r, giveUp{why: why, kind: drained}) // no other run of the job may be killed in its place
	over <- r.stray
}

// all returns the live runs. The caller holds the lock.
func (i *instance) all() []*run {
	runs := make([]*run, 0, len(i.live))
	for _, r := range i.live {
		runs = append(runs, r)
	}
	return runs
}

// state is what the instance says of itself. The caller holds the lock.
func (i *instance) state() fleet.InstanceState {
	switch {
	case i.gone, i.leaving, i.removed, i.absent:
		return fleet.InstanceDraining
	case i.is.Cordoned:
		return fleet.InstanceCordoned
	}
	return fleet.InstanceOnline
}

func (i *instance) slots() int {
	if i.is.Slots > 0 {
		return min(i.is.Slots, maxSlots)
	}
	return i.b.cfg.Slots
}

// free returns how many more runs the instance takes.
func (i *instance) free() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state() != fleet.InstanceOnline || i.silent > 0 {
		return 0
	}
	return max(i.slots()-len(i.live), 0)
}

// kinds are those of tasks that executors of XXL-JOB do.
var kinds = []string{job.KindHandler, job.KindScript}

// heartbeat returns what the instance says of itself now.
func (i *instance) heartbeat(now time.Time) (*nats.Msg, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	host := ""
	if u, err := url.Parse(i.is.Address); err == nil {
		host = u.Host
	}
	version := i.is.Dialect.Versions()
	if i.is.Old {
		version = "2.2"
	}
	beat := bus.Heartbeat{ControlSecret: i.is.Secret, Bridge: i.b.id, Instance: fleet.Instance{
		Group: i.is.Group, Instance: i.is.Instance, State: i.state(), Kinds: kinds, Handlers: []string{fleet.AnyHandler},
		Slots: i.slots(), Running: len(i.live), DrainBy: i.drainBy, Labels: i.is.Labels, Zone: i.is.Labels["zone"],
		Protocol: fleet.Protocol, Version: version, SDK: i.is.Dialect.SDK(), Host: host, StartedAt: i.is.Since, At: now.UTC().Truncate(time.Millisecond),
		Refused: i.refused, Refusal: i.refusal,
	}}
	i.lastBeat = now
	data, err := json.Marshal(beat)
	if err != nil {
		return nil, fmt.Errorf("encode heartbeat: %w", err)
	}
	return &nats.Msg{Subject: bus.SubjectHeartbeat(i.is.Group, i.is.Instance), Data: data}, nil
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
