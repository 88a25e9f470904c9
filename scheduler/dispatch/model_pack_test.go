package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The model of packs is a pack of two triggers, two instances of which one may die, two servers that take it
// apart, and a judge of its runs. Each step of theirs is one of its own, and every order is tried.

const (
	packRuns    = 2
	packServers = 2
)

// mutant is an error that the model must find.
type mutant uint8

const (
	sound          mutant = iota
	fenceless             // two servers may store the triggers of a pack
	judgesAtOnce          // the pack may be on the stream, or on its way, when an attempt is judged
	acksTheFirst          // a pack is acknowledged when the first of its runs has ended
	acksGivenBack         // and when a run of it was given back
	removesFirst          // a pack is removed before its triggers are stored
	readsEndBefore        // ends are looked for before the instances are asked
)

type packNode struct {
	alive    bool
	coming   bool // the pack was sent to it, and has not come
	runs     [packRuns]phase
	received bool // it has the pack to acknowledge
	void     bool // it does not acknowledge it
}

// packServer takes a pack apart: it reads the note, stores the triggers, and removes the pack.
type packServer struct {
	step uint8 // 0: it does nothing
	note uint8 // that it has read
}

type packJudge struct {
	run  uint8
	step uint8 // 0: makes sure that the pack is off; then asks each instance, looks for the end, and decides
	held bool
	end  bool
}

type packModel struct {
	is        mutant
	pack      bool // on the stream
	delivered bool
	note      uint8 // how often the triggers were stored
	singles   [packRuns]uint8
	stored    [packRuns]bool
	died      bool // one has
	nodes     [instances]packNode
	servers   [packServers]packServer
	judging   packJudge
	broken    packBreach
}

// packBreach is what must not happen.
type packBreach uint8

const (
	packWhole packBreach = iota
	begunThoughEnded
	begunThoughHeld
	leftNothing
	storedTwice
)

func (b packBreach) String() string {
	return [...]string{
		"", "an attempt begins after its end is stored", "an attempt begins that an instance has",
		"a pack is off the stream, and a run of it has neither an end nor a trigger", "the triggers of a pack are stored twice",
	}[b]
}

func (m *packModel) begin(i, r int) {
	if m.stored[r] {
		m.broken = begunThoughEnded
	}
	for j := range m.nodes {
		if p := m.nodes[j].runs[r]; j != i && m.nodes[j].alive && (p == running || p == ended) {
			m.broken = begunThoughHeld
		}
	}
	m.nodes[i].runs[r] = running
}

// removed checks that nothing is lost with a pack that is taken off the stream.
func (m *packModel) removed() {
	m.pack = false
	for r := range packRuns {
		if !m.stored[r] && m.singles[r] == 0 && m.note == 0 {
			m.broken = leftNothing
		}
	}
}

func (m *packModel) done() bool {
	return !m.pack && m.stored[0] && m.stored[1] && m.singles == [packRuns]uint8{}
}

func (m *packModel) next(yield func(what string, m packModel)) {
	do := func(what string, may bool, change func(m *packModel)) {
		if may {
			after := *m
			change(&after)
			yield(what, after)
		}
	}
	for i := range m.nodes {
		m.instance(i, func(what string, may bool, change func(m *packModel)) {
			do(fmt.Sprintf("%c ", 'a'+i)+what, may, change)
		})
	}
	for s := range m.servers {
		m.server(s, func(what string, may bool, change func(m *packModel)) {
			do(fmt.Sprintf("server %d ", s)+what, may, change)
		})
	}
	for r := range packRuns {
		m.judge(r, func(what string, may bool, change func(m *packModel)) {
			do(fmt.Sprintf("the judge of %d ", r)+what, may, change)
		})
	}
}

func (m *packModel) instance(i int, do func(string, bool, func(*packModel))) {
	n := m.nodes[i]
	do("is sent the pack", n.alive && m.pack && !m.delivered, func(m *packModel) { m.delivered, m.nodes[i].coming = true, true })
	has := n.runs[0] != idle || n.runs[1] != idle
	do("gets the pack", n.alive && n.coming, func(m *packModel) {
		m.nodes[i].coming = false
		if has {
			return // it hands it to a server
		}
		m.nodes[i].received = true
		for r := range packRuns {
			m.begin(i, r)
		}
	})
	do("dies", n.alive && !m.died, func(m *packModel) { m.died, m.nodes[i] = true, packNode{} })
	do("is started again", !n.alive, func(m *packModel) { m.nodes[i] = packNode{alive: true} })
	all := true
	for r, p := range n.runs {
		all = all && p == reported
		do(fmt.Sprintf("ends %d", r), n.alive && p == running, func(m *packModel) { m.nodes[i].runs[r] = ended })
		do(fmt.Sprintf("stores the end of %d", r), n.alive && p == ended, func(m *packModel) { m.nodes[i].runs[r], m.stored[r] = reported, true })
		do(fmt.Sprintf("gives %d back", r), n.alive && p == running, func(m *packModel) { m.nodes[i].runs[r], m.nodes[i].void = idle, true })
	}
	first := m.is == acksTheFirst && (n.runs[0] == reported || n.runs[1] == reported)
	given := m.is == acksGivenBack && n.void && (n.runs[0] == reported || n.runs[1] == reported)
	do("acknowledges the pack", n.alive && n.received && m.pack && (all && !n.void || first || given), func(m *packModel) { m.removed() })
}

func (m *packModel) server(s int, do func(string, bool, func(*packModel))) {
	at := m.servers[s]
	// It was delivered again, or a run of it is to be cancelled.
	do("finds the pack, and reads the note", at.step == 0 && m.pack, func(m *packModel) {
		m.servers[s] = packServer{1, m.note}
		if m.note > 0 && m.is != fenceless {
			m.servers[s].step = 2
		}
		if m.is == removesFirst {
			m.removed()
		}
	})
	do("stores the triggers", at.step == 1, func(m *packModel) {
		if at.note != m.note && m.is != fenceless {
			m.servers[s] = packServer{} // refused; it looks again
			return
		}
		m.servers[s].step = 2
		m.note = min(m.note+1, 2)
		for r := range packRuns {
			m.singles[r] = min(m.singles[r]+1, 2)
			if m.note > 1 {
				m.broken = storedTwice
			}
		}
	})
	do("removes the pack", at.step == 2, func(m *packModel) {
		m.servers[s] = packServer{}
		m.removed()
	})
	do("dies", at.step > 0, func(m *packModel) { m.servers[s] = packServer{} })
}

func (m *packModel) judge(r int, do func(string, bool, func(*packModel))) {
	j := m.judging
	there := m.singles[r] > 0 && (int(j.run) == r || j.step == 0)
	rest := func(m *packModel) { m.judging = packJudge{} }
	do("removes the pack", there && j.step == 0, func(m *packModel) {
		if m.judging = (packJudge{run: uint8(r), step: 1}); m.is != judgesAtOnce {
			m.removed()
		}
	})
	// What was sent before has come by the next round.
	quiet := !m.nodes[0].coming && !m.nodes[1].coming || m.is == judgesAtOnce
	for i := range instances {
		do(fmt.Sprintf("asks %c", 'a'+i), there && int(j.step) == 1+i && quiet, func(m *packModel) {
			m.judging.step++
			switch n := m.nodes[i]; {
			case n.alive && n.runs[r] == reported:
				m.singles[r]--
				rest(m)
			case n.alive && n.runs[r] != idle:
				m.judging.held = true
			}
			if m.is == readsEndBefore && i == 0 {
				m.judging.end = m.stored[r]
			}
		})
	}
	do("looks for the end", there && j.step == 1+instances, func(m *packModel) {
		if m.judging.step++; m.is != readsEndBefore {
			m.judging.end = m.stored[r]
		}
	})
	decides := there && j.step == 2+instances
	do("finds the end", decides && j.end && !j.held, func(m *packModel) { m.singles[r]--; rest(m) })
	do("finds who has it", decides && j.held, rest)
	for i := range instances {
		do(fmt.Sprintf("hands it to %c", 'a'+i), decides && !j.end && !j.held && m.nodes[i].alive && m.nodes[i].runs[r] == idle, func(m *packModel) { rest(m); m.begin(i, r) })
	}
	do("dies", there && j.step > 0, rest)
}

// explorePacks tries all orders. It returns what is broken first, and how that came, or "".
func explorePacks(is mutant) (broken string, states int) {
	first := packModel{is: is, pack: true}
	for i := range first.nodes {
		first.nodes[i].alive = true
	}
	type came struct {
		from int
		by   string
	}
	all, ways, number := []packModel{first}, []came{{}}, map[packModel]int{first: 0}
	var before [][]int
	before = append(before, nil)
	for k := 0; k < len(all); k++ {
		m := all[k]
		m.next(func(what string, after packModel) {
			n, seen := number[after]
			if !seen { // the servers are alike
				mirrored := after
				mirrored.servers[0], mirrored.servers[1] = after.servers[1], after.servers[0]
				n, seen = number[mirrored]
			}
			if !seen {
				n = len(all)
				number[after] = n
				all, ways, before = append(all, after), append(ways, came{k, what}), append(before, nil)
			}
			before[n] = append(before[n], k)
			if after.broken != packWhole && broken == "" {
				var story []string
				for ; n != 0; n = ways[n].from {
					story = append(story, ways[n].by)
				}
				slices.Reverse(story)
				broken = after.broken.String() + ":\n\t" + strings.Join(story, "\n\t")
			}
		})
		if broken != "" {
			return broken, len(all)
		}
	}
	ends, todo := make([]bool, len(all)), []int{}
	for n := range all {
		if ends[n] = all[n].done(); ends[n] {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range before[n] {
			if !ends[from] {
				ends[from], todo = true, append(todo, from)
			}
		}
	}
	if n := slices.Index(ends, false); n >= 0 {
		return fmt.Sprintf("this cannot end: %+v", all[n]), len(all)
	}
	return "", len(all)
}

func TestAtLengthNoOrderOfEventsBreaksAPack(t *testing.T) {
	broken, states := explorePacks(sound)
	if broken != "" {
		t.Fatal(broken)
	}
	t.Logf("%d states", states)
}

func TestTheModelOfPacksFindsErrors(t *testing.T) {
	for is := fenceless; is <= readsEndBefore; is++ {
		if broken, _ := explorePacks(is); broken == "" {
			t.Errorf("error %d is not found", is)
		} else {
			t.Logf("error %d: %s", is, broken)
		}
	}
}
