package partitions

import (
	"fmt"
	"slices"
	"testing"
)

// What the model has. Letter number k of a shard is the k-th item that it leaves for shards of another
// partition, in the order of its own stream.
const (
	letters = 3 // how many there are
	relays  = 2 // of the shard: its owner, and a former one that goes on
	most    = 6 // messages in the other partition's stream
)

// rules are those of the protocol. A model without one of them must fail.
type rules struct {
	inOrder   bool // a relay sends a letter when those before are stored, or in one batch with them
	keeps     bool // it deletes a letter when that is known to be stored
	watermark bool // the receiver's cursor has the last letter that had its effect
}

var all = rules{inOrder: true, keeps: true, watermark: true}

// relay is what the relay of a shard holds in memory.
type relay struct {
	read [letters]bool // letters that it has read, maybe long ago, and does not know to be stored
}

// world is everything that is stored, and what the relays hold in memory.
type world struct {
	left    int               // how many letters the shard's batches have left so far
	deleted [letters]bool     // which of them are gone from its stream
	relays  [relays]relay     //
	stream  [most]int         // of the other partition
	length  int               // of stream
	looked  int               // how far the receiver has read it, and
	mark    int               // the last letter that had its effect: both are in the receiver's cursor, so
	effects [letters + 1]int8 // they change in one batch with the effects
}

// next returns the worlds that one step can lead to.
func (w world) next(r rules) []world {
	var found []world
	if w.left < letters {
		n := w
		n.left++
		found = append(found, n)
	}
	if w.looked < w.length {
		n := w
		if k := n.stream[n.looked]; !r.watermark || k > n.mark {
			n.effects[k]++
			n.mark = k
		}
		n.looked++
		found = append(found, n)
	}
	for i := range w.relays {
		found = append(found, w.relay(i, r)...)
	}
	return found
}

// relay returns what a relay can do.
func (w world) relay(i int, r rules) []world {
	begin := w // it reads what is there, as after a takeover
	begin.relays[i] = relay{}
	for k := range letters {
		begin.relays[i].read[k] = k < w.left && !w.deleted[k]
	}
	found := []world{begin}
	var batch []int
	for k := 1; k <= letters; k++ {
		switch {
		case !w.relays[i].read[k-1]:
		case r.inOrder: // a letter goes with all that were left before it
			batch = append(batch, k)
			found = append(found, w.send(i, batch, r)...)
		default:
			found = append(found, w.send(i, []int{k}, r)...)
		}
	}
	return found
}

// send returns what becomes of letters that a relay sends as one batch, which it may have sent before.
func (w world) send(i int, batch []int, r rules) []world {
	if !r.keeps {
		for _, k := range batch {
			w.deleted[k-1] = true
		}
	}
	found := []world{w} // it is lost on the way
	if w.length+len(batch) > most {
		return found
	}
	w.length += copy(w.stream[w.length:], batch)
	heard := w
	for _, k := range batch {
		heard.deleted[k-1] = true
		heard.relays[i].read[k-1] = false
	}
	return append(found, w, heard) // the relay does not hear that it is stored, or does
}

// waits tells whether a letter is in the other partition's stream and not read yet.
func (w world) waits(k int) bool { return slices.Contains(w.stream[w.looked:w.length], k) }

// wrong says what is wrong in a world.
func (w world) wrong() string {
	for k := 1; k <= letters; k++ {
		switch {
		case w.effects[k] > 1:
			return fmt.Sprintf("letter %d had its effect twice", k)
		case w.effects[k] == 0 && w.deleted[k-1] && !w.waits(k):
			return fmt.Sprintf("letter %d is lost", k)
		case w.effects[k] == 0 && w.mark > k:
			return fmt.Sprintf("letter %d was passed over", k)
		}
	}
	return ""
}

// explore returns the first thing that is wrong in a world that can be reached, and how many there are.
func explore(r rules) (wrong string, reached int) {
	seen := map[world]bool{{}: true}
	for queue := []world{{}}; len(queue) > 0; queue = queue[1:] {
		if wrong := queue[0].wrong(); wrong != "" {
			return wrong, len(seen)
		}
		for _, n := range queue[0].next(r) {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return "", len(seen)
}

func TestWordReachesAnotherPartitionOnce(t *testing.T) {
	wrong, reached := explore(all)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d worlds", reached)
}

func TestEachRuleIsNeeded(t *testing.T) {
	for _, broken := range []struct {
		rules
		without string
	}{
		{rules{keeps: true, watermark: true}, "order"},
		{rules{inOrder: true, watermark: true}, "keeping a letter until it is stored"},
		{rules{inOrder: true, keeps: true}, "the watermark"},
	} {
		wrong, _ := explore(broken.rules)
		if wrong == "" {
			t.Errorf("nothing is wrong without %s", broken.without)
		}
		t.Logf("without %s: %s", broken.without, wrong)
	}
}
