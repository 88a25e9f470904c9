package shard

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simLetters follows letters that cross partitions, in both directions.
type simLetters struct {
	parents  []*simParent // shards of other partitions, which leave letters for this one
	sent     map[job.RunID]*simLetter
	children map[int]*simChild // shards of other partitions, for which this one leaves letters
	left     int               // letters that this one has left, and
	repeated int               // how many it was sent once more
	remade   int               // streams of parents, and
	cut      int               // how often one has lost its end
}

// simLetter is a letter that a shard of another partition has left for this one.
type simLetter struct {
	*journal.Deferred
	from   int
	at     journal.LetterMark
	stored bool // in this shard's stream, once at least
	taken  bool // has had its effect
	gone   bool // with its stream, before its owner knew that it was stored here
}

// simParent is a shard of another partition as a parent's.
type simParent struct {
	shard   int
	job     job.Name
	made    int64  // of its owner
	last    uint64 // of its stream
	letters []*simLetter
	relays  []*simRelay // the last one is its owner's
}

// simRelay is what an owner of such a shard knows of its letters.
type simRelay struct {
	letters []*simLetter
}

// simChild is a shard of another partition as a child's.
type simChild struct {
	owed []outLetter // in the order in which they were left
	mark journal.LetterMark
}

// outLetter is an item of this shard's.
type outLetter struct {
	seq    uint64
	stored bool // in the child's stream
}

func newSimLetters(w *world) *simLetters {
	s := &simLetters{sent: map[job.RunID]*simLetter{}, children: map[int]*simChild{}}
	for _, name := range w.foreign {
		if n := name.Shard(simShards); w.abroad(n) {
			s.children[n] = &simChild{}
			s.parents = append(s.parents, &simParent{shard: n, job: name, made: w.clock, relays: []*simRelay{{}}})
		}
	}
	return s
}

// parent returns the shard of a job, if it is in another partition; else nil.
func (s *simLetters) parent(name job.Name) *simParent {
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

// leaveLetter has a shard of another partition leave a letter for a job of this one.
func (p *simParent) leaveLetter(w *world, d *journal.Deferred) {
	p.last += 1 + w.rng.Uint64N(3)
	letter := &simLetter{Deferred: d, from: p.shard, at: journal.LetterMark{Made: instant(p.made), Seq: p.last}}
	p.letters = append(p.letters, letter)
	owner := p.relays[len(p.relays)-1]
	owner.letters = append(owner.letters, letter)
	w.letters.sent[d.Parent.RunID] = letter
}

// relayHere has the owner of a shard of another partition, or a former one, send some of its letters.
func (w *world) relayHere() {
	if len(w.letters.parents) == 0 {
		return
	}
	p := w.letters.parents[w.rng.IntN(len(w.letters.parents))]
	i := len(p.relays) - 1
	if w.chance(30) {
		i = w.rng.IntN(len(p.relays))
	}
	r := p.relays[i]
	n := min(len(r.letters), 1+w.rng.IntN(4))
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

// send stores letters in this shard's stream.
func (p *simParent) send(w *world, r *simRelay, n int) {
	for _, letter := range r.letters[:n] {
		w.trig.last += 1 + w.rng.Uint64N(2)
		d := *letter.Deferred
		d.Letter = &journal.LetterID{From: p.shard, At: letter.at}
		w.trig.deferred[w.trig.last] = &d
		if letter.stored {
			w.letters.repeated++
		}
		letter.stored = true
		w.say("letter %v of shard %d for %s comes", letter.at.Seq, p.shard, d.Job)
	}
}

// relayed tells a relay that its first letters are stored. It deletes them, if it is the owner's.
func (p *simParent) relayed(r *simRelay, n int) {
	if r == p.relays[len(p.relays)-1] {
		p.letters = slices.DeleteFunc(p.letters, func(letter *simLetter) bool { return slices.Contains(r.letters[:n], letter) })
	}
	r.letters = slices.Clone(r.letters[n:])
}

// replaceOwner gives a shard of another partition a new owner, or makes its stream anew.
func (w *world) replaceOwner() {
	if len(w.letters.parents) == 0 {
		return
	}
	p := w.letters.parents[w.rng.IntN(len(w.letters.parents))]
	switch n := w.rng.IntN(100); {
	case n < 15:
		w.say("the stream of shard %d is made anew", p.shard)
		w.letters.remade++
		p.lose(p.last)
	case n < 30:
		w.letters.cut++
		p.lose(min(p.last, 1+w.rng.Uint64N(20)))
		w.say("the stream of shard %d ends with %d", p.shard, p.last)
	}
	p.takeOver(w, w.chance(50))
}

// lose has the shard's stream lose its last messages.
func (p *simParent) lose(n uint64) {
	p.last -= n
	p.letters = slices.DeleteFunc(p.letters, func(letter *simLetter) bool {
		letter.gone = letter.gone || letter.at.Seq > p.last
		return letter.gone
	})
}

// takeOver gives the shard a new owner, who reads what there is.
func (p *simParent) takeOver(w *world, dies bool) {
	p.made = max(w.clock, p.made+1)
	if dies {
		p.relays = p.relays[:len(p.relays)-1]
	}
	p.relays = append(p.relays[max(0, len(p.relays)-3):], &simRelay{letters: slices.Clone(p.letters)})
}

// relayAway has an owner of this shard, or a former one, send some of its letters.
func (w *world) relayAway(o *owner) {
	for p := range w.partitions.Count() {
		letters := o.m.Relay.Next(p, 1+w.rng.IntN(4))
		if len(letters) == 0 || w.chance(20) {
			continue
		}
		for _, letter := range letters {
			w.letters.children[letter.Shard].receive(o.m.Relay.Item(letter).Letter)
		}
		if w.chance(70) {
			o.m.Relay.Sent(p, len(letters))
		}
	}
}

// relayAllAway has all letters be stored abroad, or as many as an owner relays before it has deleted those.
func (w *world) relayAllAway(o *owner) {
	for p := range w.partitions.Count() {
		letters := o.m.Relay.Next(p, 1<<30)
		for _, letter := range letters {
			w.letters.children[letter.Shard].receive(o.m.Relay.Item(letter).Letter)
		}
		o.m.Relay.Sent(p, len(letters))
	}
}

// receive stores a letter of this shard in the stream of another, whose owner takes it at once.
func (c *simChild) receive(letter *journal.LetterID) {
	i := slices.IndexFunc(c.owed, func(o outLetter) bool { return o.seq == letter.At.Seq })
	if i < 0 || letter.From != simShard {
		fail("letter %+v is relayed, and nobody has left it", letter)
	}
	c.owed[i].stored = true
	if !letter.At.After(c.mark) {
		return
	}
	for _, before := range c.owed[:i] {
		if before.seq > c.mark.Seq {
			fail("letter %d is relayed before letter %d", letter.At.Seq, before.seq)
		}
	}
	c.mark = letter.At
}

// checkLetters holds what a stored batch says of letters that cross partitions against the rules.
func (w *world) checkLetters(b *stored, lines []journal.Decided) {
	if w.partitions.Count() == 1 && (len(b.cursor.Letters) > 0 || !b.cursor.Made.IsZero()) {
		fail("the cursor knows of partitions: %+v", b.cursor)
	}
	for i, item := range b.deferred {
		if here := item.Job.Shard(simShards); item.Kind == journal.DeferredLetter {
			c := w.letters.children[here]
			if c == nil {
				fail("a letter for %s, whose shard is in the same partition", item.Job)
			}
			w.letters.left++
			c.owed = append(c.owed, outLetter{seq: b.items[i]})
		} else if item.Kind == journal.DeferredChild && w.abroad(here) {
			fail("a letter for %s in the stream of another partition", item.Job)
		}
	}
	for _, c := range w.letters.children {
		for _, o := range c.owed {
			if !o.stored && slices.Contains(b.cursor.Released, o.seq) {
				fail("letter %d is released, and not stored in the other partition", o.seq)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b.cursor.Letters)) {
		w.checkMark(b, lines, n)
	}
	for n, mark := range b.before.Letters {
		if mark.After(b.cursor.Letters[n]) {
			fail("the letter of shard %d has had its effect up to %v, and now up to %v", n, mark, b.cursor.Letters[n])
		}
	}
}

// checkMark looks at the letters of one shard that have their effect with a batch.
func (w *world) checkMark(b *stored, lines []journal.Decided, n int) {
	before, after := b.before.Letters[n], b.cursor.Letters[n]
	for _, letter := range w.letters.sent {
		if letter.from != n || !letter.at.After(before) || letter.at.After(after) || letter.gone && !letter.stored {
			continue
		}
		switch {
		case letter.taken:
			fail("letter %+v has its effect twice", *letter)
		case !letter.stored:
			fail("letter %+v is passed over", *letter)
		case letter.gone && letter.at.Made.Before(after.Made) && w.cameLate(b, letter):
			continue // what its former owner sent
		}
		letter.taken = true
		if w.releasedNow(b, n, letter.at, letter.at) == 0 {
			fail("letter %+v has its effect, and is not released", *letter)
		}
		w.checkTaken(lines, letter)
	}
}

// releasedNow returns the lowest sequence at which a batch releases a letter of a shard, from one mark up
// to another; 0: it releases none.
func (w *world) releasedNow(b *stored, shard int, from, upto journal.LetterMark) (first uint64) {
	for _, seq := range b.cursor.Released {
		d := w.trig.deferred[seq]
		if d == nil || d.Letter == nil || d.Letter.From != shard || from.After(d.Letter.At) || d.Letter.At.After(upto) || slices.Contains(b.before.Released, seq) {
			continue
		}
		if first == 0 || seq < first {
			first = seq
		}
	}
	return first
}

// cameLate reports whether no letter came, or only behind a letter of a later stream of its shard.
func (w *world) cameLate(b *stored, letter *simLetter) bool {
	came := w.releasedNow(b, letter.from, letter.at, letter.at)
	later := journal.LetterMark{Made: letter.at.Made.Add(time.Millisecond)}
	return came == 0 || came > w.releasedNow(b, letter.from, later, b.cursor.Letters[letter.from])
}

// checkTaken sees that a letter has the effect that it is to have: the child's run.
func (w *world) checkTaken(lines []journal.Decided, letter *simLetter) {
	id := job.ChildRunID(letter.Job, letter.Parent.RunID, letter.Parent.At.UnixMilli())
	if !slices.ContainsFunc(lines, func(l journal.Decided) bool { return l.RunID == id && l.Cause == job.CauseParent }) {
		fail("letter %+v has had its effect, and the record tells of no run %s", *letter, id)
	}
}

// settleLetters has all letters be stored where they are to be.
func (w *world) settleLetters() {
	for _, p := range w.letters.parents {
		p.takeOver(w, true)
		r := p.relays[len(p.relays)-1]
		n := len(r.letters)
		p.send(w, r, n)
		p.relayed(r, n)
	}
}

// checkLettersEnd sees, once everything has come to rest, that each letter has had its effect.
func (w *world) checkLettersEnd() {
	for _, letter := range w.letters.sent {
		if !letter.taken && !letter.gone {
			fail("letter %+v has had no effect", *letter)
		}
	}
	for n, c := range w.letters.children {
		for _, o := range c.owed {
			if !o.stored {
				fail("letter %d has not come to shard %d", o.seq, n)
			}
		}
	}
}

func TestRandomHistoriesRelayLettersBetweenPartitions(t *testing.T) {
	taken, left, repeated, remade, cut := 0, 0, 0, 0, 0
	worlds := playedWorlds(t)
	for _, w := range worlds {
		for _, letter := range w.letters.sent {
			if letter.taken {
				taken++
			}
		}
		left += w.letters.left
		repeated += w.letters.repeated
		remade += w.letters.remade
		cut += w.letters.cut
	}
	if n := len(worlds); min(taken, left, repeated) < n*5/6 || min(remade, cut) < n/6 {
		t.Error("too few letters have crossed partitions")
	}
	t.Logf("%d letters have come, and %d repeats; %d were left; %d streams were made anew, and %d lost their end", taken, repeated, left, remade, cut)
}

func TestAWorldComesToRestWhenNoLetterIsLeftToRelay(t *testing.T) {
	var w *world
	for seed := uint64(0); w == nil || len(w.letters.children) == 0; seed++ {
		w = newWorld(rand.NewPCG(seed, 1))
	}
	name := w.letters.parents[0].job
	child := w.letters.children[name.Shard(simShards)]
	for range 3 * maxDelivered {
		d := w.letterOf(w.names[0], name)
		d.Kind, d.Letter = journal.DeferredLetter, &journal.LetterID{From: simShard, At: journal.LetterMark{Made: instant(w.clock)}}
		w.trig.deferred[w.trig.last] = d
		child.owed = append(child.owed, outLetter{seq: w.trig.last})
	}

	w.settle()

	for _, o := range child.owed {
		if !o.stored {
			t.Fatalf("letter %d is still to be relayed", o.seq)
		}
	}
}
