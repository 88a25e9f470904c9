package shard

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// simWords follows word that crosses partitions, in both directions.
type simWords struct {
	parents  []*simParent // shards of other partitions, which leave word for this one
	sent     map[job.RunID]*simWord
	children map[int]*simChild // shards of other partitions, for which this one leaves word
	left     int               // words that this one has left, and
	repeated int               // how many it was sent once more
	remade   int               // streams of parents, and
	cut      int               // how often one has lost its end
	joined   int               // runs of jobs that wait for several parents

	runs map[job.Name]map[job.RunID]bool // after parents, or skipped for their sake
}

// simWord is word that a shard of another partition has left for this one.
type simWord struct {
	*bus.Deferred
	from    int
	at      bus.WordMark
	stored  bool // in this shard's stream, once at least
	taken   bool // has had its effect
	adopted bool // as an item of this shard's
	vain    bool // to its owner, the job did not exist
	gone    bool // with its stream, before its owner knew that it was stored here
}

// simParent is a shard of another partition as a parent's.
type simParent struct {
	shard  int
	job    job.Name
	made   int64  // of its owner
	last   uint64 // of its stream
	words  []*simWord
	relays []*simRelay // the last one is its owner's
}

// simRelay is what an owner of such a shard knows of its words.
type simRelay struct {
	words []*simWord
}

// simChild is a shard of another partition as a child's.
type simChild struct {
	owed []outWord // in the order in which they were left
	mark bus.WordMark
}

// outWord is an item of this shard's.
type outWord struct {
	seq    uint64
	stored bool // in the child's stream
}

func newSimWords(w *world) *simWords {
	s := &simWords{sent: map[job.RunID]*simWord{}, children: map[int]*simChild{}, runs: map[job.Name]map[job.RunID]bool{}}
	for _, name := range w.foreign {
		if n := name.Shard(simShards); w.abroad(n) {
			s.children[n] = &simChild{}
			s.parents = append(s.parents, &simParent{shard: n, job: name, made: w.clock, relays: []*simRelay{{}}})
		}
	}
	return s
}

// parent returns the shard of a job, if it is in another partition; else nil.
func (s *simWords) parent(name job.Name) *simParent {
	i := slices.IndexFunc(s.parents, func(p *simParent) bool { return p.job == name })
	if i < 0 {
		return nil
	}
	return s.parents[i]
}

// abroad reports whether a shard is in another partition.
func (w *world) abroad(shard int) bool {
	return w.partitions.Of(shard) != w.partitions.Of(simShard)
}

// leaveWord has a shard of another partition leave word for a job of this one.
func (p *simParent) leaveWord(w *world, d *bus.Deferred) {
	p.last += 1 + w.rng.Uint64N(3)
	word := &simWord{Deferred: d, from: p.shard, at: bus.WordMark{Made: instant(p.made), Seq: p.last}}
	p.words = append(p.words, word)
	owner := p.relays[len(p.relays)-1]
	owner.words = append(owner.words, word)
	w.words.sent[d.Parent.RunID] = word
}

// relayHere has the owner of a shard of another partition, or a former one, send some of its words.
func (w *world) relayHere() {
	if len(w.words.parents) == 0 {
		return
	}
	p := w.words.parents[w.rng.IntN(len(w.words.parents))]
	i := len(p.relays) - 1
	if w.chance(30) {
		i = w.rng.IntN(len(p.relays))
	}
	r := p.relays[i]
	n := min(len(r.words), 1+w.rng.IntN(4))
	switch {
	case n == 0 || w.chance(15): // lost on the way
		return
	case w.chance(30):
		p.send(w, r, n) // and nobody hears that they are stored
	default:
		p.send(w, r, n)
		p.relayed(r, n)
	}
}

// send stores words in this shard's stream.
func (p *simParent) send(w *world, r *simRelay, n int) {
	for _, word := range r.words[:n] {
		w.trig.last += 1 + w.rng.Uint64N(2)
		d := *word.Deferred
		d.Word = &bus.Word{From: p.shard, At: word.at}
		w.trig.deferred[w.trig.last] = &d
		if word.stored {
			w.words.repeated++
		}
		word.stored = true
		w.say("word %v of shard %d for %s comes", word.at.Seq, p.shard, d.Job)
	}
}

// relayed tells a relay that its first words are stored. It deletes them, if it is the owner's.
func (p *simParent) relayed(r *simRelay, n int) {
	if r == p.relays[len(p.relays)-1] {
		p.words = slices.DeleteFunc(p.words, func(word *simWord) bool { return slices.Contains(r.words[:n], word) })
	}
	r.words = slices.Clone(r.words[n:])
}

// replaceOwner gives a shard of another partition a new owner, or makes its stream anew.
func (w *world) replaceOwner() {
	if len(w.words.parents) == 0 {
		return
	}
	p := w.words.parents[w.rng.IntN(len(w.words.parents))]
	switch n := w.rng.IntN(100); {
	case n < 15:
		w.say("the stream of shard %d is made anew", p.shard)
		w.words.remade++
		p.lose(p.last)
	case n < 30:
		w.words.cut++
		p.lose(min(p.last, 1+w.rng.Uint64N(20)))
		w.say("the stream of shard %d ends with %d", p.shard, p.last)
	}
	p.takeOver(w, w.chance(50))
}

// lose has the shard's stream lose its last messages.
func (p *simParent) lose(n uint64) {
	p.last -= n
	p.words = slices.DeleteFunc(p.words, func(word *simWord) bool {
		word.gone = word.gone || word.at.Seq > p.last
		return word.gone
	})
}

// takeOver gives the shard a new owner, who reads what there is.
func (p *simParent) takeOver(w *world, dies bool) {
	p.made = max(w.clock, p.made+1)
	if dies {
		p.relays = p.relays[:len(p.relays)-1]
	}
	p.relays = append(p.relays[max(0, len(p.relays)-3):], &simRelay{words: slices.Clone(p.words)})
}

// relayAway has an owner of this shard, or a former one, send some of its words.
func (w *world) relayAway(o *owner) {
	for p := range w.partitions.Count() {
		words := o.m.Relay.Next(p, 1+w.rng.IntN(4))
		if len(words) == 0 || w.chance(20) {
			continue
		}
		for _, word := range words {
			w.words.children[word.Shard].receive(o.m.Relay.Item(word).Word)
		}
		if w.chance(70) {
			o.m.Relay.Sent(p, len(words))
		}
	}
}

// relayAllAway has all words be stored abroad, or as many as an owner relays before it has deleted those.
func (w *world) relayAllAway(o *owner) {
	for p := range w.partitions.Count() {
		words := o.m.Relay.Next(p, 1<<30)
		for _, word := range words {
			w.words.children[word.Shard].receive(o.m.Relay.Item(word).Word)
		}
		o.m.Relay.Sent(p, len(words))
	}
}

// receive stores word of this shard in the stream of another, whose owner takes it at once.
func (c *simChild) receive(word *bus.Word) {
	i := slices.IndexFunc(c.owed, func(o outWord) bool { return o.seq == word.At.Seq })
	if i < 0 || word.From != simShard {
		fail("word %+v is relayed, and nobody has left it", word)
	}
	c.owed[i].stored = true
	if !word.At.After(c.mark) {
		return
	}
	for _, before := range c.owed[:i] {
		if before.seq > c.mark.Seq {
			fail("word %d is relayed before word %d", word.At.Seq, before.seq)
		}
	}
	c.mark = word.At
}

// checkWords holds what a stored batch says of word that crosses partitions against the rules.
func (w *world) checkWords(b *stored, d delivery, lines []bus.Decided) {
	if w.partitions.Count() == 1 && (len(b.cursor.Words) > 0 || !b.cursor.Made.IsZero()) {
		fail("the cursor knows of partitions: %+v", b.cursor)
	}
	for i, item := range b.deferred {
		if here := item.Job.Shard(simShards); item.Kind == bus.DeferredWord {
			c := w.words.children[here]
			if c == nil {
				fail("word for %s, whose shard is in the same partition", item.Job)
			}
			w.words.left++
			c.owed = append(c.owed, outWord{seq: b.items[i]})
		} else if item.Kind == bus.DeferredChild && w.abroad(here) {
			fail("word for %s in the stream of another partition", item.Job)
		}
	}
	for _, c := range w.words.children {
		for _, o := range c.owed {
			if !o.stored && slices.Contains(b.cursor.Released, o.seq) {
				fail("word %d is released, and not stored in the other partition", o.seq)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b.cursor.Words)) {
		w.checkMark(b, d, lines, n)
	}
	for _, l := range lines {
		if l.Cause == job.CauseParent && len(d.known.jobs[l.Job]) > 0 {
			if w.words.runs[l.Job] == nil {
				w.words.runs[l.Job] = map[job.RunID]bool{}
			}
			w.words.runs[l.Job][l.RunID] = true
		}
	}
	for n, mark := range b.before.Words {
		if mark.After(b.cursor.Words[n]) {
			fail("word of shard %d has had its effect up to %v, and now up to %v", n, mark, b.cursor.Words[n])
		}
	}
}

// checkMark looks at the words of one shard that have their effect with a batch.
func (w *world) checkMark(b *stored, d delivery, lines []bus.Decided, n int) {
	before, after := b.before.Words[n], b.cursor.Words[n]
	for _, word := range w.words.sent {
		if word.from != n || !word.at.After(before) || word.at.After(after) || word.gone && !word.stored {
			continue
		}
		switch {
		case word.taken:
			fail("word %+v has its effect twice", *word)
		case !word.stored:
			fail("word %+v is passed over", *word)
		case word.gone && word.at.Made.Before(after.Made) && w.cameLate(b, word):
			continue // what its former owner sent
		}
		word.taken = true
		if w.releasedNow(b, n, word.at, word.at) == 0 {
			fail("word %+v has its effect, and is not released", *word)
		}
		w.checkTaken(b, d, lines, word)
	}
}

// releasedNow returns the lowest sequence at which a batch releases word of a shard, from one mark up
// to another; 0: it releases none.
func (w *world) releasedNow(b *stored, shard int, from, upto bus.WordMark) (first uint64) {
	for _, seq := range b.cursor.Released {
		d := w.trig.deferred[seq]
		if d == nil || d.Word == nil || d.Word.From != shard || from.After(d.Word.At) || d.Word.At.After(upto) || slices.Contains(b.before.Released, seq) {
			continue
		}
		if first == 0 || seq < first {
			first = seq
		}
	}
	return first
}

// cameLate reports whether no word came, or only behind word of a later stream of its shard.
func (w *world) cameLate(b *stored, word *simWord) bool {
	came := w.releasedNow(b, word.from, word.at, word.at)
	later := bus.WordMark{Made: word.at.Made.Add(time.Millisecond)}
	return came == 0 || came > w.releasedNow(b, word.from, later, b.cursor.Words[word.from])
}

// checkTaken sees that word has the effect that it is to have: the child's run, or a place among the
// items of this shard, where it waits.
func (w *world) checkTaken(b *stored, d delivery, lines []bus.Decided, word *simWord) {
	word.adopted = slices.ContainsFunc(b.deferred, func(item *bus.Deferred) bool {
		return item.Kind == bus.DeferredChild && item.Parent.RunID == word.Parent.RunID
	})
	versions := d.known.jobs[word.Job]
	word.vain = len(versions) == 0
	if word.adopted || !word.Parent.Met {
		return
	}
	if n := len(versions); n > 0 && len(versions[n-1].Join) > 0 {
		return
	}
	id := job.ChildRunID(word.Job, word.Parent.RunID, word.Parent.At.UnixMilli())
	if !slices.ContainsFunc(lines, func(l bus.Decided) bool { return l.RunID == id && l.Cause == job.CauseParent }) {
		fail("word %+v has had its effect, and the record tells of no run %s", *word, id)
	}
}

// settleWords has all words be stored where they are to be.
func (w *world) settleWords() {
	for _, p := range w.words.parents {
		p.takeOver(w, true)
		r := p.relays[len(p.relays)-1]
		n := len(r.words)
		p.send(w, r, n)
		p.relayed(r, n)
	}
}

// checkWordsEnd sees, once everything has come to rest, that each word has had its effect.
func (w *world) checkWordsEnd() {
	w.checkJoins()
	for _, word := range w.words.sent {
		if !word.taken && !word.gone {
			fail("word %+v has had no effect", *word)
		}
	}
	for n, c := range w.words.children {
		for _, o := range c.owed {
			if !o.stored {
				fail("word %d has not come to shard %d", o.seq, n)
			}
		}
	}
}

// checkJoins sees that a job that waits for several parents has used up one word of each for each run.
func (w *world) checkJoins() {
	for _, name := range w.names {
		v := w.newest[name]
		if v == nil || len(v.Join) == 0 || v.Deleted || w.lives.edited[name] {
			continue
		}
		least, all := 1<<30, true
		for _, parent := range v.Join {
			if w.words.parent(parent) == nil {
				all = false
				continue
			}
			came := 0
			for _, word := range w.words.sent {
				if word.taken && !word.vain && word.Job == name && word.Parent.Job == parent {
					came++
				}
			}
			least = min(least, came)
		}
		if runs := len(w.words.runs[name]); runs > least || all && runs < least {
			fail("%s has run %d times after %v, one of which ended %d times", name, runs, v.Join, least)
		}
		if least < 1<<30 {
			w.words.joined += len(w.words.runs[name])
		}
	}
}

func TestRandomHistoriesRelayWordBetweenPartitions(t *testing.T) {
	taken, adopted, left, repeated, remade, cut, joined := 0, 0, 0, 0, 0, 0, 0
	n := histories(120)
	for seed := range n {
		w, err := play(seed, 600)
		if err != nil {
			replay(t, seed, 600, err)
		}
		for _, word := range w.words.sent {
			if word.taken {
				taken++
			}
			if word.adopted {
				adopted++
			}
		}
		left += w.words.left
		repeated += w.words.repeated
		remade += w.words.remade
		cut += w.words.cut
		joined += w.words.joined
	}
	if min(taken, left, repeated) < int(n*5/6) || min(adopted, remade, cut, joined) < int(n/6) {
		t.Error("too little word has crossed partitions")
	}
	t.Logf("%d words have come, %d of which had to wait, and %d repeats; %d were left; %d runs after several parents; %d streams were made anew, and %d lost their end", taken, adopted, repeated, left, joined, remade, cut)
}

func TestAWorldComesToRestWhenNoWordIsLeftToRelay(t *testing.T) {
	var w *world
	for seed := uint64(0); w == nil || len(w.words.children) == 0; seed++ {
		w = newWorld(rand.NewPCG(seed, 1))
	}
	name := w.words.parents[0].job
	child := w.words.children[name.Shard(simShards)]
	for range 3 * maxDelivered {
		d := w.wordOf(w.names[0], name)
		d.Kind, d.Word = bus.DeferredWord, &bus.Word{From: simShard, At: bus.WordMark{Made: instant(w.clock)}}
		w.trig.deferred[w.trig.last] = d
		child.owed = append(child.owed, outWord{seq: w.trig.last})
	}

	w.settle()

	for _, o := range child.owed {
		if !o.stored {
			t.Fatalf("word %d is still to be relayed", o.seq)
		}
	}
}
