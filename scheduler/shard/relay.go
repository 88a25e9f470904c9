package shard

import (
	"maps"
	"time"

	"github.com/carillon-scheduler/carillon/journal"
)

// Relay has the ends of parents whose children are in another partition: those that this shard's owner
// has to relay, and, for each other shard, the last one that had its effect here.
//
// A batch cannot write to another partition, so such an end is an item of the parent's shard. Its owner
// sends those for a partition in the order of their sequences, each once the ones before it are stored,
// and deletes one once it is stored, too. It sends again what it does not know to be stored.
// An end that is not later than the mark of its shard has come before. ADR 46 has the reasons.
type Relay struct {
	cfg       *Config
	items     *items
	made      time.Time                  // Made of the cursor, and of the letters that this shard leaves
	waiting   map[int][]*Letter          // by partition, those that wait to be relayed, in order
	delivered map[uint64]bool            // items of those that are stored in their partition and not deleted yet
	marks     map[int]journal.LetterMark // by shard, the last one that has had its effect
}

func newRelay(cfg *Config, items *items, cursor *journal.Cursor) *Relay {
	r := &Relay{cfg: cfg, items: items, made: cursor.Made, waiting: map[int][]*Letter{}, delivered: map[uint64]bool{}, marks: map[int]journal.LetterMark{}}
	maps.Copy(r.marks, cursor.Letters)
	return r
}

// save enters the marks in the cursor of a batch.
func (r *Relay) save(c *journal.Cursor) { c.Made, c.Letters = r.made, r.marks }

// maxDelivered bounds how many letters are relayed that are not deleted yet. Without it, a long backlog of
// letters would be as many items to delete as stop the shard; see [maxReleased].
const maxDelivered = 1000

// Letter is the end of a parent that the shard's owner has to relay.
type Letter struct {
	Shard int // of the child
	d     *journal.Deferred
	item  *item
}

// Item returns the item that tells the child's owner.
func (r *Relay) Item(w *Letter) *journal.Deferred {
	told := *w.d
	told.Kind = journal.DeferredChild
	told.Letter = &journal.LetterID{From: r.cfg.Shard, At: journal.LetterMark{Made: w.d.Letter.At.Made, Seq: w.item.seq}}
	return &told
}

// Next returns the oldest n letters for a partition that are stored, in order, without
// forgetting them: the owner calls [Relay.Sent] when they are stored there. It returns
// fewer, or none, while the owner is still to delete those that are.
func (r *Relay) Next(partition, n int) []*Letter {
	left := r.waiting[partition]
	n = min(n, maxDelivered-len(r.delivered))
	stored := 0
	for stored < min(n, len(left)) && left[stored].item.seq != 0 {
		stored++
	}
	return left[:stored:stored]
}

// Len returns how many letters wait to be relayed.
func (r *Relay) Len() int {
	n := 0
	for _, left := range r.waiting {
		n += len(left)
	}
	return n
}

// Sent reports that the oldest n letters for a partition are stored there.
func (r *Relay) Sent(partition, n int) {
	left := r.waiting[partition]
	for _, w := range left[:n] {
		r.items.release(w.item)
		r.delivered[w.item.seq] = true
	}
	if r.waiting[partition] = left[n:]; len(left) == n {
		delete(r.waiting, partition)
	}
}

// keep queues the end of a parent for the owner to relay.
func (r *Relay) keep(d *journal.Deferred, i *item) {
	w := &Letter{Shard: d.Job.Shard(r.cfg.Shards), d: d, item: i}
	p := r.cfg.Partitions.Of(w.Shard)
	r.waiting[p] = append(r.waiting[p], w)
}

// passes notes that the end of a parent takes effect. It returns false for one from another
// partition that has come before.
func (r *Relay) passes(a *arrival) bool {
	w := a.Letter
	if w == nil {
		return true
	}
	if !w.At.After(r.marks[w.From]) {
		return false
	}
	r.marks[w.From] = w.At
	return true
}

// begin notes when the owner claims the shard: now, and later than all owners before it. So its
// letters are later than theirs, even if the sequences of the stream repeat because it was created again
// or has lost its last messages.
func (r *Relay) begin(now int64) {
	if r.cfg.Partitions.Count() > 1 {
		r.made = instant(max(now, r.made.UnixMilli()+1))
	}
}
