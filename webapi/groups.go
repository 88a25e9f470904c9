package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// groupHandlers answer requests about scheduler nodes, executor groups and their instances.
type groupHandlers struct {
	conn    *cluster.Conn
	view    *nodes.View
	catalog *catalog.Catalog
	store   logstore.Store
	users   *auth.Directory
	log     *slog.Logger
}

// PutGroup answers PUT /groups/{group}.
func (h *groupHandlers) PutGroup(ctx context.Context, r PutGroupRequestObject) (*Group, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	settings := cluster.GroupSettings(*r.Body)
	was, err := h.conn.Groups().Set(ctx, r.Group, settings)
	if err != nil {
		return nil, err
	}
	is := settings.Of(was)
	if err := auditlog.Describe(ctx, !reflect.DeepEqual(is, was), "", was.Settings(), is.Settings()); err != nil {
		return nil, err
	}
	g, err := h.view.Group(ctx, r.Group)
	return &g, err
}

// PauseGroup answers PUT /groups/{group}/pause.
func (h *groupHandlers) PauseGroup(ctx context.Context, r PauseGroupRequestObject) (*Group, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	g, err := h.view.Group(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	hold, err := h.catalog.SetSwitch(ctx, r.Group, r.Body)
	if err != nil {
		return nil, err
	}
	g.Pause = nodes.Paused(hold, time.Now())
	return &g, nil
}

// ListHandlers answers GET /groups/{group}/handlers.
func (h *groupHandlers) ListHandlers(ctx context.Context, r ListHandlersRequestObject) (*HandlerList, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	items, err := h.view.Handlers(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	return &HandlerList{Items: items}, nil
}

// instanceWait is how long an instance has to answer a request. Giving up its pull
// requests takes it up to two seconds when NATS is slow.
const instanceWait = 5 * time.Second

// DrainInstance answers POST /groups/{group}/instances/{instance}/drain.
func (h *groupHandlers) DrainInstance(ctx context.Context, r DrainInstanceRequestObject) (*InstanceReply, error) {
	var wish fleet.DrainRequest
	if r.Body != nil {
		wish = *r.Body
	}
	if err := wish.Validate(); err != nil {
		return nil, err
	}
	if err := auditlog.Describe(ctx, true, "", nil, wish); err != nil {
		return nil, err
	}
	reply, err := h.tellInstance(ctx, r.Group, r.Instance, bus.VerbDrain, wish)
	if err != nil {
		return nil, err
	}
	if wish.Within > 0 && reply.DrainBy.IsZero() && reply.Answer == fleet.AnswerAccepted {
		reply.Detail = "its SDK knows no limit for that: it waits for its runs, however long they take"
	}
	return reply, nil
}

// CordonInstance answers POST /groups/{group}/instances/{instance}/cordon.
func (h *groupHandlers) CordonInstance(ctx context.Context, r CordonInstanceRequestObject) (*InstanceReply, error) {
	reply, err := h.tellInstance(ctx, r.Group, r.Instance, bus.VerbCordon, struct{}{})
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// UncordonInstance answers POST /groups/{group}/instances/{instance}/uncordon.
func (h *groupHandlers) UncordonInstance(ctx context.Context, r UncordonInstanceRequestObject) (*InstanceReply, error) {
	reply, err := h.tellInstance(ctx, r.Group, r.Instance, bus.VerbUncordon, struct{}{})
	if err != nil {
		return nil, err
	}
	if reply.Answer != fleet.AnswerAccepted {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.InstanceStopping.With(r.Instance))
	}
	return reply, nil
}

// SetInstance answers POST /groups/{group}/instances/{instance}/settings.
func (h *groupHandlers) SetInstance(ctx context.Context, r SetInstanceRequestObject) (*InstanceReply, error) {
	reply, err := h.tellInstance(ctx, r.Group, r.Instance, bus.VerbSet, r.Body)
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// tellInstance sends a request to a live instance. One that is gone is not found.
func (h *groupHandlers) tellInstance(ctx context.Context, group, instance, verb string, body any) (*fleet.InstanceReply, error) {
	if err := errors.Join(job.CheckSlug("group", group), job.CheckSlug("instance", instance)); err != nil {
		return nil, err
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request to instance %s: %w", instance, err)
	}
	beat, err := h.conn.Instances().Heartbeat(ctx, group, instance)
	var reply *fleet.InstanceReply
	if err == nil {
		reply, err = h.conn.AskInstance(ctx, beat.Address(), verb, nil, data, instanceWait)
	}
	if errors.Is(err, bus.ErrNobodyThere) || errors.Is(err, job.ErrNotFound) {
		return nil, fmt.Errorf("%w: group %s has no live instance %s that takes requests", job.ErrNotFound, group, instance)
	}
	return reply, err
}

// ListNodes answers GET /nodes.
func (h *groupHandlers) ListNodes(ctx context.Context, _ ListNodesRequestObject) (*NodeList, error) {
	list, err := h.view.Nodes(ctx)
	return &list, err
}

// GetBus answers GET /bus.
func (h *groupHandlers) GetBus(ctx context.Context, _ GetBusRequestObject) (*BusState, error) {
	if err := h.users.Credentials().Wait(ctx); err != nil {
		return nil, err
	}
	state, err := h.conn.Streams().State(ctx, h.users.Credentials().AllServed())
	if err != nil {
		return nil, err
	}
	if visible := access.Seen(ctx); visible != nil {
		state.Consumers = slices.DeleteFunc(state.Consumers, func(c fleet.ConsumerState) bool { return c.Group != "" && !visible(c.Group) })
		state.Kept = slices.DeleteFunc(state.Kept, func(k fleet.Kept) bool { return !visible(k.Group) })
	}
	return state, nil
}

// ListGroups answers GET /groups.
func (h *groupHandlers) ListGroups(ctx context.Context, _ ListGroupsRequestObject) (*GroupList, error) {
	groups, err := h.view.Groups(ctx)
	if err != nil {
		return nil, err
	}
	h.countWaiting(ctx, groups)
	return &GroupList{Items: groups}, nil
}

// GetGroupUsage answers GET /groups/{group}/usage.
func (h *groupHandlers) GetGroupUsage(ctx context.Context, r GetGroupUsageRequestObject) (*GroupUsage, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	filter := usageOf(&r.Params)
	filter.Group = r.Group
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := h.view.Knows(ctx, r.Group); err != nil {
		return nil, err
	}
	return readUsage(ctx, h.store, filter)
}

// usageOf returns the range of a request for usage: the last hour by default.
func usageOf(p *GetGroupUsageParams) logstore.UsageFilter {
	now := time.Now().UTC()
	f := logstore.UsageFilter{From: p.From.UTC(), To: p.To.UTC(), Parts: cmp.Or(p.Parts, logstore.DefaultUsageParts), Now: now}
	if p.To.IsZero() {
		f.To = now
	}
	if p.From.IsZero() {
		f.From = f.To.Add(-time.Hour)
	}
	return f
}

func readUsage(ctx context.Context, store logstore.Store, f logstore.UsageFilter) (*GroupUsage, error) {
	parts, err := store.Usage(ctx, f)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &GroupUsage{From: f.From, To: f.To, Items: parts}, nil
}

// waitingTimeout is how long a list of groups waits for what it can do without.
const waitingTimeout = time.Second

// countWaiting says of groups how many of their runs wait, unless the log store does not answer:
// groups must be seen while it is away.
func (h *groupHandlers) countWaiting(ctx context.Context, groups []Group) {
	asking, cancel := context.WithTimeout(ctx, waitingTimeout)
	defer cancel()
	waiting, err := h.store.Waiting(asking)
	if err != nil {
		h.log.DebugContext(ctx, "waiting runs are not known", "error", err)
		return
	}
	for i := range groups {
		w := waiting[groups[i].ExecutorGroup]
		groups[i].WaitingRuns, groups[i].WaitingSince = &w.Runs, w.Since
	}
}
