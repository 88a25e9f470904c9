package shard

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// Word of a parent's end for a child in another partition cannot be in the child's stream with the
// parent's batch. So it is an item of the parent's shard, which its owner relays: it sends the words
// for a partition in the order of their sequences, a word when those before it are stored, and
// deletes it when it knows that it is stored, too. What it does not know to be stored it sends again.
//
// The cursor of the child's shard has the last word that has had its effect, of each shard that has
// left some. A word that is not later has come before. ADR 46 has the reasons.

// words is what a shard knows of words that cross partitions.
type words struct {
	made  time.Time            // Made of its cursor, and of the words that it leaves
	left  map[int][]*Word      // by partition, those that wait to be relayed, in order
	there map[uint64]bool      // items of those that are stored in their partition and not deleted yet
	marks map[int]bus.WordMark // by shard, the last one that has had its effect
}

// mostThere bounds how many words are relayed that are not deleted yet. Without it, a long backlog of
// words would be as many items to delete as stop the shard; see [maxReleased].
const mostThere = 1000

// Word is word that the shard's owner has to relay.
type Word struct {
	Shard int // of the child
	d     *bus.Deferred
	item  *item
}

// Item returns the item that tells the child's owner.
func (m *Machine) Item(w *Word) *bus.Deferred {
	told := *w.d
	told.Kind = bus.DeferredChild
	told.Word = &bus.Word{From: m.cfg.Shard, At: bus.WordMark{Made: w.d.Word.At.Made, Seq: w.item.seq}}
	return &told
}

// Words returns the oldest n words for a partition that are stored, in order, without
// forgetting them: the owner calls [Machine.Relayed] when they are stored there. It returns
// fewer, or none, while the owner is still to delete those that are.
func (m *Machine) Words(partition, n int) []*Word {
	left := m.words.left[partition]
	n = min(n, mostThere-len(m.words.there))
	stored := 0
	for stored < min(n, len(left)) && left[stored].item.seq != 0 {
		stored++
	}
	return left[:stored:stored]
}

// WordsLeft returns how many words wait to be relayed.
func (m *Machine) WordsLeft() int {
	n := 0
	for _, left := range m.words.left {
		n += len(left)
	}
	return n
}

// Relayed says that the oldest n words for a partition are stored there.
func (m *Machine) Relayed(partition, n int) {
	left := m.words.left[partition]
	for _, w := range left[:n] {
		m.items.release(w.item)
		m.words.there[w.item.seq] = true
	}
	if m.words.left[partition] = left[n:]; len(left) == n {
		delete(m.words.left, partition)
	}
}

// keepWord enters word that waits to be relayed.
func (m *Machine) keepWord(d *bus.Deferred, i *item) {
	w := &Word{Shard: d.Job.Shard(m.cfg.Shards), d: d, item: i}
	p := m.cfg.Partitions.Of(w.Shard)
	m.words.left[p] = append(m.words.left[p], w)
}

// passes notes that word has its effect, and reports false if it is word of another partition
// that has come before.
func (m *Machine) passes(a *arrival) bool {
	w := a.word
	if w == nil {
		return true
	}
	if !w.At.After(m.words.marks[w.From]) {
		return false
	}
	m.words.marks[w.From] = w.At
	return true
}

// adopt writes a copy of word from another partition that has to wait, as if this shard had left it:
// the mark has passed the word, and a successor would take it for a repeat.
func (m *Machine) adopt(b *builder, a *arrival) {
	if a.word == nil || a.item.gone {
		return
	}
	m.items.release(a.item)
	a.word, a.item = nil, b.deferred(m.cfg.Shard, &bus.Deferred{Kind: bus.DeferredChild, Job: a.child, Parent: a.ParentEnd})
	b.placed[len(b.placed)-1].left = true
}

// beginWords notes when the owner claims the shard: now, and later than all owners before it. So its
// words are later than theirs, even if the stream was created again, or has lost its last messages,
// so that its sequences come again.
func (m *Machine) beginWords(now int64) {
	if m.cfg.Partitions.Count() > 1 {
		m.words.made = instant(max(now, m.words.made.UnixMilli()+1))
	}
}
