package dispatch

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// saySuspended is how often it is said again which instances are suspended, and
	// sayWithin how long that may take.
	saySuspended = 20 * time.Second
	sayWithin    = 5 * time.Second
	// maxSuspensions bounds how many there are of one group.
	maxSuspensions = 1000
)

// hearNak takes in that a trigger was given back.
func (d *Dispatcher) hearNak(m *nats.Msg) {
	name, at, delivery, pulled := bus.ParseNakAdvisory(m.Subject, m.Data)
	if name == "" {
		return
	}
	d.mu.Lock()
	g := d.groups[name]
	if g == nil { // executors that pull need not say who they are, and one that leaves gives back first
		g = newGroup(d, name)
		g.as = d.known[name]
		d.groups[name] = g
	}
	d.mu.Unlock()
	now := time.Now()
	often, suspect := g.naks.note(at, delivery, pulled, now)
	if often {
		g.suspend("", now)
	}
	if suspect {
		g.drop()
	}
}

// suspend has servers offer an instance nothing for a while, or, without one, pull what the
// group's executors pull.
func (g *group) suspend(instance string, now time.Time) {
	t, begun := g.naks.suspend(instance, now)
	if !begun {
		return
	}
	g.d.metrics.suspensions.WithLabelValues(g.name).Inc()
	s := g.suspension(instance, t)
	g.d.log.Warn("instance suspended, as it gives triggers back again and again", "executor_group", g.name, "instance", instance, "until", t.until)
	data, err := json.Marshal(s)
	if err == nil {
		err = g.d.conn.NC.Publish(bus.SubjectSuspended, data)
	}
	if err != nil {
		g.d.log.Debug("suspension not told", "error", err)
	}
	g.drop() // pools without it are made
	if instance == "" {
		g.pull()
	}
}

// pull has what the group's executors pull be pulled here, too, at once.
func (g *group) pull() {
	for _, wake := range []chan struct{}{g.pulled, g.d.spun} {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

func (g *group) suspension(instance string, t term) bus.Suspension {
	why := reason.GaveBackMany
	if instance == "" {
		why = reason.GaveBackOne
	}
	return bus.Suspension{Group: g.name, Instance: instance, Reason: why.String(), Since: t.since.UTC(), Until: t.until.UTC()}
}

// hearSuspended takes in what another node has suspended.
func (d *Dispatcher) hearSuspended(m *nats.Msg) {
	var s bus.Suspension
	now := time.Now()
	if json.Unmarshal(m.Data, &s) != nil || s.Validate() != nil || s.Until.After(now.Add(2*maxSuspended)) {
		return
	}
	d.mu.Lock()
	g := d.groups[s.Group]
	d.mu.Unlock()
	if g == nil || len(g.naks.standing(now)) >= maxSuspensions {
		return
	}
	g.naks.heard(s.Instance, term{since: s.Since, until: s.Until, lasts: s.Until.Sub(s.Since)})
	g.drop()
	if s.Instance == "" {
		g.pull()
	}
}

// judgeNaks suspends the instances that give back too much of what they are handed. One that
// is leaving gives back all that it has, and says by now that it leaves.
func (g *group) judgeNaks(now time.Time) {
	if n := len(g.naks.standing(now)); n != g.barring {
		g.barring = n
		g.drop() // pools with those that are back are made
	}
	for _, name := range g.naks.suspects() {
		if g.takesWork(name) {
			g.suspend(name, now)
		}
		g.drop()
	}
}

// saySuspensions keeps, for all to see, what this node has suspended, in a goroutine of the
// dispatcher.
func (d *Dispatcher) saySuspensions(ctx context.Context, now time.Time) {
	var all []bus.Suspension
	d.mu.Lock()
	for _, g := range d.groups {
		for instance, t := range g.naks.standing(now) {
			all = append(all, g.suspension(instance, t))
		}
	}
	d.mu.Unlock()
	d.metrics.suspended.Set(float64(len(all)))
	said := suspendedKeys(all)
	if slices.Equal(said, d.said) && (len(all) == 0 || now.Sub(d.saidAt) < saySuspended) || d.saying.Load() {
		return
	}
	d.said, d.saidAt = said, now
	d.saying.Store(true)
	d.serving.Go(func() {
		defer d.saying.Store(false)
		limited, cancel := context.WithTimeout(ctx, sayWithin)
		defer cancel()
		if err := d.conn.PutSuspensions(limited, d.node, all); err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "suspended instances not shown", "suspended", len(all), "error", err)
		}
	})
}

// suspendedKeys tells one set of suspensions from another.
func suspendedKeys(all []bus.Suspension) (keys []string) {
	for _, s := range all {
		keys = append(keys, s.Group+"/"+s.Instance+" "+s.Until.Format(time.RFC3339))
	}
	slices.Sort(keys)
	return keys
}
