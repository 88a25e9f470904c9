package alert

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// mirror has the bucket ALERT in memory. It is safe for concurrent use.
type mirror struct {
	changed chan struct{} // has an entry when something has changed since it was taken out

	rules     *jet.Mirror[Entry[alerting.Rule]]
	channels  *jet.Mirror[Entry[alerting.Channel]]
	silences  *jet.Mirror[alerting.Silence]
	incidents *jet.Mirror[alerting.Incident]
	past      *jet.Mirror[alerting.Incident]
	tallies   *jet.Mirror[tally]
}

func newMirror() *mirror {
	m := &mirror{changed: make(chan struct{}, 1)}
	m.rules = kindRule.Mirror(func(*Entry[alerting.Rule]) { m.wake() })
	m.channels = kindChannel.Mirror(func(*Entry[alerting.Channel]) { m.wake() })
	m.silences = kindSilence.Mirror(func(*alerting.Silence) { m.wake() })
	m.incidents = kindIncident.Mirror(func(*alerting.Incident) { m.wake() })
	m.past = kindPast.Mirror(func(*alerting.Incident) { m.wake() })
	m.tallies = kindTally.Mirror(nil)
	return m
}

// follow keeps the mirror up to date until ctx is done.
func (m *mirror) follow(ctx context.Context, conn *jet.Conn, log *slog.Logger) {
	jet.FollowMirrors(ctx, conn, log, m.rules, m.channels, m.silences, m.incidents, m.past, m.tallies)
}

// load waits until all that there was is in, and reports whether it is before ctx is done.
func (m *mirror) load(ctx context.Context) bool {
	for _, loaded := range []<-chan struct{}{m.rules.Loaded(), m.channels.Loaded(), m.silences.Loaded(), m.incidents.Loaded(), m.past.Loaded(), m.tallies.Loaded()} {
		select {
		case <-loaded:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (m *mirror) wake() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// forget drops what was deleted.
func (m *mirror) forget() {
	m.rules.Forget(never)
	m.channels.Forget(never)
	m.silences.Forget(never)
	m.incidents.Forget(never)
	m.past.Forget(never)
	m.tallies.Forget(never)
}

func never[T any](*T) bool  { return false }
func always[T any](*T) bool { return true }

// active returns the rules that are not disabled, by name.
func (m *mirror) active() (list []*alerting.Rule) {
	for _, r := range m.rules.Find(func(r *Entry[alerting.Rule]) bool { return !r.Doc.Disabled }) {
		r.Value.Doc.Since = r.Value.CreatedAt
		list = append(list, &r.Value.Doc)
	}
	return list
}

// ofRuns returns the active rules that are about runs.
func (m *mirror) ofRuns() []*alerting.Rule {
	return slices.DeleteFunc(m.active(), func(r *alerting.Rule) bool { return !r.When.OfRuns() })
}

// channel returns a channel, or nil.
func (m *mirror) channel(name string) *Entry[alerting.Channel] {
	if c, _, ok := m.channels.Get(name); ok {
		return &c
	}
	return nil
}

// ofIncident returns the mirror that has the incident at a key of the bucket, and its key there.
func (m *mirror) ofIncident(key string) (*jet.Mirror[alerting.Incident], string) {
	if id, past := strings.CutPrefix(key, keyPast); past {
		return m.past, id
	}
	return m.incidents, strings.TrimPrefix(key, keyIncident)
}

// incident returns the incident at a key of the bucket, or nil.
func (m *mirror) incident(key string) *alerting.Incident {
	in, at := m.ofIncident(key)
	if inc, _, ok := in.Get(at); ok {
		return &inc
	}
	return nil
}

// find returns the incidents that fit, by their keys in the bucket and in the order of these.
func (m *mirror) find(fits func(*alerting.Incident) bool) []jet.Record[alerting.Incident] {
	list, past := m.incidents.Find(fits), m.past.Find(fits)
	for i := range list {
		list[i].Key = keyIncident + list[i].Key
	}
	for i := range past {
		past[i].Key = keyPast + past[i].Key
	}
	return append(list, past...)
}

// silenced returns until when an incident is silenced, and by whom; zero when it is not.
func (m *mirror) silenced(inc *alerting.Incident, now time.Time) (until time.Time, by string) {
	for _, q := range m.silences.Find(func(q *alerting.Silence) bool { return q.Until.After(now) && q.Fits(inc) }) {
		if q.Value.Until.After(until) {
			until, by = q.Value.Until, q.Value.By
		}
	}
	return until, by
}
