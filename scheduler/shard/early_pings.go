package shard

import (
	"container/heap"
	"slices"

	"github.com/carillon-scheduler/carillon/journal"
)

// earlyPing is a ping that came before its fire was decided.
type earlyPing struct {
	ping
	fire int64
	item *item

	of   *watch
	n    uint64 // in the order in which they were added
	slot int    // in the heap
}

// maxEarly is how many early pings of a job are kept.
const maxEarly = 16

// maxEarlyOutput is how much output is kept with an early ping, in bytes.
const maxEarlyOutput = 8 << 10

// earlyPings are the early pings of all jobs: a heap by their fires, and by the order in which they came.
type earlyPings struct {
	heap  []*earlyPing
	added uint64
}

// add enters an early ping of a job.
func (es *earlyPings) add(w *watch, p *earlyPing) {
	es.added++
	p.of, p.n = w, es.added
	w.early = append(w.early, p)
	heap.Push(es, p)
}

// remove takes out an early ping.
func (es *earlyPings) remove(p *earlyPing) {
	heap.Remove(es, p.slot)
	p.of.early = slices.DeleteFunc(p.of.early, func(other *earlyPing) bool { return other == p })
}

// first returns the early ping of the first fire, nil if there is none.
func (es *earlyPings) first() *earlyPing {
	if len(es.heap) == 0 {
		return nil
	}
	return es.heap[0]
}

// Len implements [heap.Interface].
func (es *earlyPings) Len() int { return len(es.heap) }

// Less implements [heap.Interface].
func (es *earlyPings) Less(i, k int) bool {
	if a, b := es.heap[i].fire, es.heap[k].fire; a != b {
		return a < b
	}
	return es.heap[i].n < es.heap[k].n
}

// Swap implements [heap.Interface].
func (es *earlyPings) Swap(i, k int) {
	es.heap[i], es.heap[k] = es.heap[k], es.heap[i]
	es.heap[i].slot, es.heap[k].slot = i, k
}

// Push implements [heap.Interface].
func (es *earlyPings) Push(x any) {
	p, _ := x.(*earlyPing)
	p.slot = len(es.heap)
	es.heap = append(es.heap, p)
}

// Pop implements [heap.Interface].
func (es *earlyPings) Pop() any {
	last := len(es.heap) - 1
	p := es.heap[last]
	es.heap[last] = nil
	es.heap = es.heap[:last]
	return p
}

// storeEarly keeps a ping until a fire is decided. The caller has found room for a message.
func (ws *watches) storeEarly(b *builder, id uint32, p ping, fire int64) {
	short := *p.Ping
	if over := len(short.Output) - maxEarlyOutput; over > 0 {
		short.Output, short.OutputCut = short.Output[over:], short.OutputCut+over
	}
	p.Ping = &short
	ws.early.add(ws.byJob[id], &earlyPing{ping: p, fire: fire, item: b.deferred(b.cfg.Shard, &journal.Deferred{
		Kind: journal.DeferredEarly, Job: p.Job, Ping: p.Ping, Since: instant(p.at), Due: instant(fire),
	})})
}
