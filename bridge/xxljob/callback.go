package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// beatEvery is how often the beat of an executor is stored at most: one that repeats it says nothing new.
const beatEvery = 10 * time.Second

// Register records that an executor is there. The error says what is wrong with it, or why it cannot be
// reached; it is registered all the same then, and told so the next time that it registers, too.
func (b *Bridge) Register(ctx context.Context, r wire.Registration, dialect wire.Dialect) error {
	group, beat, err := b.beatOf(r, dialect)
	if err != nil {
		return err
	}
	key := beat.Key()
	b.mu.Lock()
	fresh := time.Since(b.beaten[key]) < beatEvery && !b.removedLocked(key)
	named := b.named[group]
	why := ""
	if k := b.table.instances[key]; k != nil && k.Offline {
		why = k.Why
	}
	b.mu.Unlock()
	if !named {
		if err := b.store.KeepName(ctx, group, r.AppName); err != nil {
			return err
		}
	}
	if !fresh {
		if err := b.store.PutBeat(ctx, *beat); err != nil {
			return err
		}
		b.mu.Lock()
		b.beaten[key], b.named[group] = time.Now(), true
		if len(b.beaten) > maxExecutors {
			clear(b.beaten)
		}
		b.mu.Unlock()
	}
	if why != "" {
		return fmt.Errorf("%w: the bridge cannot reach %s: %s", job.ErrUnavailable, beat.Address, why)
	}
	return nil
}

// maxExecutors bounds how many executors may register for a group.
const maxExecutors = 5000

// removedLocked reports whether the last that was heard of an executor is that it left.
func (m *members) removedLocked(key string) bool {
	beat := m.table.beats[key]
	return beat == nil || beat.Removed
}

// Remove records that an executor leaves.
func (b *Bridge) Remove(ctx context.Context, r wire.Registration) error {
	_, beat, err := b.beatOf(r, "")
	if err != nil {
		return err
	}
	beat.Removed = true
	b.mu.Lock()
	delete(b.beaten, beat.Key())
	b.mu.Unlock()
	return b.store.PutBeat(ctx, *beat)
}

// beatOf returns what a registration says of an instance of ours.
func (b *Bridge) beatOf(r wire.Registration, dialect wire.Dialect) (string, *state.Beat, error) {
	group, err := GroupOf(r.AppName)
	if err != nil {
		return "", nil, err
	}
	if len(b.cfg.Groups) > 0 && !slices.Contains(b.cfg.Groups, group) {
		return "", nil, &job.InvalidError{Field: "registryKey", Reason: fmt.Sprintf("%q stands for executor group %s, which this bridge does not serve", clip.Text(r.AppName, 64), group)}
	}
	address := b.Rewritten(r.Address)
	beat := &state.Beat{Group: group, Instance: b.InstanceAt(r.Address), AppName: r.AppName, Address: address, Dialect: dialect}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.table.beats[beat.Key()] == nil && b.table.count(group) >= maxExecutors {
		return "", nil, &job.InvalidError{Field: "registryKey", Reason: fmt.Sprintf("group %s has %d executors, which is the limit", group, maxExecutors)}
	}
	return group, beat, nil
}

// InstanceAt returns the name of the instance of an executor that registers an address.
func (b *Bridge) InstanceAt(address string) string { return InstanceOf(b.Rewritten(address)) }

// Rewritten returns at which address an executor is called that registers the given one.
func (b *Bridge) Rewritten(address string) string { return b.cfg.Rewritten(address) }

// count returns how many executors have registered for a group lately.
func (t *table) count(group string) (n int) {
	for _, b := range t.beats {
		if b.Group == group {
			n++
		}
	}
	return n
}

// Callback records how a run ended, whichever bridge has it. may reports whether the caller may speak
// for a group. It returns nil once the end is stored, and also for an unknown run, because an executor
// would repeat it for ever. The error is job.ErrUnavailable if the executor should repeat it later.
func (b *Bridge) Callback(ctx context.Context, c wire.Callback, may func(group string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, callbackWait)
	defer cancel()
	kind, err := b.callback(ctx, c, may)
	if err != nil {
		kind = "not_stored"
		err = fmt.Errorf("%w: run %d: %w", job.ErrUnavailable, c.LogID, err)
	}
	b.metrics.callbacks.WithLabelValues(kind).Inc()
	return err
}

func (b *Bridge) callback(ctx context.Context, c wire.Callback, may func(group string) bool) (kind string, err error) {
	block, err := b.blockOf(ctx, c.LogID, may)
	switch {
	case errors.Is(err, job.ErrNotFound):
		b.strange(ctx, "no run has this log id", c.LogID, "")
		return "unknown", nil
	case err != nil:
		return "", err
	case !may(block.Group):
		b.strange(ctx, "the run is of another group", c.LogID, block.Group)
		return "unknown", nil
	}
	key := block.Group + "." + block.Instance
	if i := b.instance(key); i != nil {
		if known, err := i.called(ctx, c); known || err != nil {
			return "taken", err
		}
		return b.recall(ctx, block, c)
	}
	if known, err := b.pass(ctx, key, c); known || err != nil {
		return "taken", err
	}
	return b.recall(ctx, block, c)
}

// blockOf returns the instance that has a log id, of a group for which may holds if two groups have it. The
// error is job.ErrNotFound if none of our groups has.
func (b *Bridge) blockOf(ctx context.Context, logID int64, may func(group string) bool) (state.Block, error) {
	groups := slices.DeleteFunc(slices.Clone(b.served()), func(group string) bool { return !state.MayHaveLogID(group, logID) })
	theirs, others := groups[:0:0], groups[:0:0]
	for _, group := range groups {
		if may(group) {
			theirs = append(theirs, group)
		} else {
			others = append(others, group)
		}
	}
	for _, group := range append(theirs, others...) {
		if block, err := b.blocks.of(ctx, group, logID); !errors.Is(err, job.ErrNotFound) {
			return block, err
		}
	}
	group, err := b.store.GroupOfBlock(ctx, logID)
	if err != nil {
		return state.Block{}, err
	}
	return b.blocks.of(ctx, group, logID)
}

// strange logs a callback that changes nothing.
func (b *Bridge) strange(ctx context.Context, why string, logID int64, group string) {
	b.log.WarnContext(ctx, "callback changes nothing", "reason", why, "log_id", logID, "executor_group", group)
}

// called tells a run of the instance how it ended. It is not known if it is not live here.
func (i *instance) called(ctx context.Context, c wire.Callback) (known bool, err error) {
	i.mu.Lock()
	r := i.byLog[c.LogID]
	if r == nil {
		i.returned(c.LogID)
	}
	i.mu.Unlock()
	if r == nil {
		return false, nil
	}
	return true, r.report(ctx, c)
}

// pass passes a callback on to the bridge that serves the instance, if there is one that answers, and if
// NATS takes a message so large.
func (b *Bridge) pass(ctx context.Context, key string, c wire.Callback) (known bool, err error) {
	b.mu.Lock()
	k := b.table.instances[key]
	var to bus.Address
	held := k != nil && k.Holder != ""
	if held {
		to = k.Control()
	}
	b.mu.Unlock()
	if !held {
		return false, nil
	}
	body, err := json.Marshal(c)
	if err != nil {
		return false, err
	}
	reply, err := b.conn.AskInstance(ctx, to, verbCallback, nil, body, callbackWait)
	switch {
	case errors.Is(err, bus.ErrNobodyThere), errors.Is(err, nats.ErrMaxPayload): // it has just died; or the caller ends the run, as this is too large to pass
		return false, nil
	case err != nil:
		return false, err
	}
	return reply.Answer == fleet.AnswerAccepted, nil
}

// recall ends a run that no bridge has in hand, by what is stored of it: the one that had it is gone, or
// has given it up, or it has ended.
func (b *Bridge) recall(ctx context.Context, block state.Block, c wire.Callback) (kind string, err error) {
	r, revision, err := b.store.Run(ctx, block.Group, block.Instance, c.LogID)
	switch {
	case errors.Is(err, job.ErrNotFound):
		b.strange(ctx, "the run ended too long ago", c.LogID, block.Group)
		return "unknown", nil
	case err != nil:
		return "", err
	case r.Unheard && (r.Ended || c.Code != wire.CodeOK): // it has ended without that, or was killed to be done elsewhere
		return "late", nil
	case r.Ended || r.Trigger == nil:
		return "repeated", nil
	}
	kind = "taken"
	if r.GivenUp {
		kind = "late"
	}
	m, err := endOf(r, c, time.Now()).finished(r, block.Instance, r.LogLines).MsgWithin(r.Token, b.conn.NC.MaxPayload())
	if err != nil {
		return "", err
	}
	if _, err := b.js.PublishMsg(ctx, m); err != nil {
		return "", jet.Unavailable(err)
	}
	err = b.store.EndRun(ctx, block.Group, block.Instance, r, revision)
	if errors.Is(err, job.ErrConflict) { // somebody else has just ended it, or taken it over
		return "", errNotStored
	}
	return kind, err
}
