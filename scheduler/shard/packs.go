package shard

import (
	"bytes"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// packs puts triggers of a batch that need no message of their own into packs, by their groups. A pack fills idle
// slots: its size is what each instance of the group that is online says that it can begin at once.
type packs struct {
	instances map[string][]*fleet.Instance // by group, that are online
	open      map[string]*pack             // by group
	more      int                          // triggers in packs, beyond the first of each
}

// pack is a message of the batch to which triggers are still added.
type pack struct {
	m    *nats.Msg
	size int
	jobs []job.Name
}

// sizeOf returns how many triggers a pack for a group may have; 1: there are no packs for it.
func (p *packs) sizeOf(group string) int {
	online := p.instances[group]
	if len(online) == 0 {
		return 1
	}
	size := bus.MaxTriggers
	for _, i := range online {
		size = min(size, i.Pack)
	}
	return max(size, 1)
}

// takes reports whether a trigger of so many bytes may be added. Runs of one job are in different messages, as
// each is to have a greater fence than the one before.
func (p *pack) takes(name job.Name, size int) bool {
	return len(p.jobs) < p.size && len(p.m.Data)+size <= bus.MaxTriggersSize && !slices.Contains(p.jobs, name)
}

// sendPacked adds a trigger of a run that nobody watches. It shares a message with others of its group if any
// instance may begin it, at any time, and repeat it.
func (b *builder) sendPacked(t *bus.Trigger, body body) {
	group := t.Job.Group()
	m := b.trigger(t, body)
	size := b.packs.sizeOf(group)
	b.Triggers++
	if size < 2 || body.routed || body.atMostOnce || b.governed[group] || t.Report == "" || bytes.IndexByte(m.Data, '\n') >= 0 {
		b.messages = append(b.messages, m)
		return
	}
	token := m.Header[bus.HeaderToken][0]
	if p := b.packs.open[group]; p != nil && p.takes(t.Job, len(m.Data)+len(token)+2) {
		if len(p.jobs) == 1 { // the first had a message of its own
			p.m.Data = bus.AppendPacked(make([]byte, 0, p.size*(len(p.m.Data)+len(token)+2)), p.m.Header[bus.HeaderToken][0], p.m.Data)
			p.m.Header[bus.HeaderMessage] = []string{bus.MessageTriggers}
			delete(p.m.Header, bus.HeaderToken)
		}
		p.m.Data = bus.AppendPacked(p.m.Data, token, m.Data)
		p.jobs = append(p.jobs, t.Job)
		b.packs.more++
		return
	}
	b.messages = append(b.messages, m)
	b.packs.open[group] = &pack{m, size, []job.Name{t.Job}}
}
