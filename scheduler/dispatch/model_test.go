package dispatch_test

import (
	"slices"
	"strings"
	"testing"
)

// The model is one attempt, two instances, a judge and a watchdog. Everything that may
// happen to them may happen at any time, in any order, and every order is tried: NATS comes
// and goes, instances die, are cut off and come back, acknowledgements and answers get
// lost, triggers are delivered again though nobody was silent, or taken off the stream.
// Each step of the judge is one of its own; see [group.deliberate].

const instances = 2

// mostDeaths is how many executors may die while they have the attempt.
const mostDeaths = 2

// phase is what an instance has of the attempt.
type phase uint8

const (
	idle     phase = iota
	claiming       // it has the trigger, and may begin once its claim stands
	running
	ended    // its end is not stored
	reported // it is, and the instance remembers that
)

// said is what an instance has told the judge.
type said uint8

const (
	notAsked said = iota
	silent        // and not known to be gone
	gone
	none
	held
	hasReported
)

// step is what the judge does next.
type step uint8

const (
	resting step = iota
	readClaim
	askAll
	readEnd
	decide
	offer // the attempt is free
)

type node struct {
	phase       phase
	alive, cut  bool
	gone        bool // its heartbeat has been missing for 15 s in which NATS answered
	wasGone     bool // at some time
	claimIsMine bool // its claim was stored, and it does not know yet
}

// model is a state of the world. It is comparable, so that states can be told apart.
type model struct {
	atMostOnce bool
	nats       bool
	trigger    bool // on the stream
	delivered  bool // at least once
	stored     bool // an end of the attempt
	lost       bool
	claim      int8 // who has claimed it, -1: nobody
	claimEnded bool // the claim says that the end is stored, which may not be found any more
	back       bool // the last delivery was handed back unbegun, and dispatchers know that
	begins     uint8

	// What servers know of deaths: whether they have judged the attempt free before, to whom one has
	// handed it since (-1: nobody), and how many they have counted; vanished, that there was one which
	// they have not. Attempts that must not be done twice need none of it.
	judged   bool
	pulled   bool // an executor pulled it first, and has not given it back
	handed   int8
	deaths   uint8
	vanished bool

	nodes [instances]node

	judge struct {
		step    step
		claimed bool
		ended   bool // the claim says so
		said    [instances]said
		end     bool
	}

	broken breach // the property that does not hold
}

// breach is what must not happen.
type breach uint8

const (
	whole breach = iota
	begunAfterItsEnd
	begunTwice
	lostThoughHeld
	lostThoughEnded
	countedTooOften
	acknowledgedBeforeItsEnd
)

func (m *model) reaches(i int) bool { return m.nats && m.nodes[i].alive && !m.nodes[i].cut }

func (m *model) has(i int) bool {
	p := m.nodes[i].phase
	return p == claiming || p == running || p == ended
}

// done reports whether nothing more is to happen.
func (m *model) done() bool { return !m.trigger && (m.stored || m.lost) }

// begin has an instance begin the attempt.
func (m *model) begin(i int) {
	for j := range m.nodes {
		if n := &m.nodes[j]; n.phase == reported && !n.wasGone && j != i {
			m.broken = begunAfterItsEnd
		}
	}
	if m.nodes[i].phase = running; m.begins < 2 {
		m.begins++
	}
	if m.atMostOnce && m.begins > 1 {
		m.broken = begunTwice
	}
}

// take has an instance take the trigger.
func (m *model) take(i int) {
	if m.atMostOnce {
		m.nodes[i].phase = claiming
		return
	}
	m.begin(i)
}

// lose records the attempt as lost.
func (m *model) lose() {
	m.lost, m.trigger = true, false
	for i := range m.nodes {
		if n := &m.nodes[i]; m.has(i) && n.phase != claiming && n.alive && !n.wasGone {
			m.broken = lostThoughHeld
		}
	}
}

// deliver has a dispatcher get the trigger once more, if it has nothing else to do.
func (m *model) deliver() {
	if m.judge.step == resting {
		if m.judge.step = readClaim; m.back {
			m.judge.step = offer // there is nothing to judge
		}
	}
	m.back = false // of the delivery before
}

// mirrored is the same state with the names of the instances exchanged.
func (m model) mirrored() model {
	other := func(i int8) int8 {
		if i < 0 {
			return i
		}
		return 1 - i
	}
	m.nodes[0], m.nodes[1] = m.nodes[1], m.nodes[0]
	m.judge.said[0], m.judge.said[1] = m.judge.said[1], m.judge.said[0]
	m.claim, m.handed = other(m.claim), other(m.handed)
	return m
}

// event is what happens to the world, or to an instance.
type event struct {
	format string // %c is the instance
	of     int
}

func (e event) String() string { return strings.ReplaceAll(e.format, "%c", string(rune('a'+e.of))) }

// next calls yield with each state that may follow.
func (m *model) next(yield func(e event, m model)) {
	at := 0
	var after model
	do := func(what string, may bool, change func(m *model)) {
		if may {
			after = *m
			change(&after)
			yield(event{what, at}, after)
		}
	}
	do("NATS goes", m.nats, func(m *model) {
		m.nats = false
		for i := range m.nodes {
			m.nodes[i].gone = false // nothing is known of heartbeats until it has answered for 15 s
		}
		m.rest() // the requests of the judge fail
	})
	do("NATS comes", !m.nats, func(m *model) { m.nats = true })
	// A new leader of the consumer may not know of a delivery. Then an attempt that may be done
	// twice can be: see guarantees.md.
	do("the delivery is forgotten", m.nats && m.trigger && m.atMostOnce && m.delivered, func(m *model) { m.delivered = false })
	do("a dispatcher gets the trigger", m.nats && m.trigger && !m.delivered && m.judge.step == resting, func(m *model) { m.delivered, m.judge.step = true, offer })
	do("a dispatcher gets it again", m.nats && m.trigger && m.delivered, func(m *model) { m.deliver() })
	do("somebody takes the trigger off the stream", m.nats && m.trigger && m.delivered, func(m *model) { m.trigger = false })
	for at = range instances {
		m.instance(at, do)
		m.hears(at, do)
	}
	m.judges(do)
	m.watches(do)
}

// instance is what may happen to an instance, and what it may do.
func (m *model) instance(i int, do func(string, bool, func(*model))) {
	n := m.nodes[i]
	other := 1 - i
	do("%c dies", n.alive && m.nodes[other].alive, func(m *model) {
		m.vanish(i)
		m.nodes[i].alive, m.nodes[i].phase = false, idle
	})
	// As a rule one dies, and the other lives; here it is started again, too, until the bound is reached.
	do("%c is started again", !n.alive && m.judged && !m.atMostOnce, func(m *model) { m.nodes[i] = node{alive: true} })
	do("%c gives it back", m.reaches(i) && n.phase == running && !m.atMostOnce, func(m *model) {
		m.nodes[i].phase, m.pulled = idle, false
		if m.handed == int8(i) {
			m.handed = -1
		}
	})
	do("%c leaves", m.reaches(i) && (n.phase == idle || n.phase == reported) && m.nodes[other].alive, func(m *model) { m.nodes[i].alive, m.nodes[i].gone = false, true })
	do("%c is cut off", n.alive && !n.cut, func(m *model) { m.nodes[i].cut = true })
	do("%c is back", n.cut, func(m *model) { m.nodes[i].cut, m.nodes[i].gone = false, false })
	do("%c is gone", m.nats && !m.reaches(i) && !n.gone, func(m *model) {
		m.vanish(i)
		m.nodes[i].gone, m.nodes[i].wasGone = true, true
	})

	up := m.reaches(i)
	do("%c pulls the trigger", up && m.trigger && !m.delivered, func(m *model) {
		m.delivered, m.pulled = true, !m.atMostOnce && !m.judged
		switch n.phase {
		case reported:
			m.trigger = false // acknowledged
		case idle:
			m.take(i)
		case claiming, running, ended: // it has the attempt
		}
	})
	do("%c pulls it again", up && m.trigger && m.delivered && !m.has(i), func(m *model) {
		if m.nodes[i].phase == reported {
			m.trigger = false // acknowledged
		} else {
			m.deliver() // handed over
		}
	})
	do("%c claims", up && n.phase == claiming && m.claim < 0, func(m *model) {
		m.claim = int8(i)
		m.begin(i)
	})
	do("%c claims, and the answer is lost", up && n.phase == claiming && m.claim < 0, func(m *model) { m.claim, m.nodes[i].claimIsMine = int8(i), true })
	do("%c finds its claim", up && n.phase == claiming && n.claimIsMine, func(m *model) { m.begin(i) })
	do("%c finds it claimed", up && n.phase == claiming && m.claim >= 0 && !n.claimIsMine, func(m *model) { m.nodes[i].phase = idle })
	do("%c ends it", n.alive && n.phase == running, func(m *model) { m.nodes[i].phase = ended })
	do("%c stores the end", up && n.phase == ended, func(m *model) { m.stored, m.nodes[i].phase = true, reported })
	// In a pack or alone. It sends it again, and does not acknowledge the trigger before it knows.
	do("%c stores the end, and does not hear so", up && n.phase == ended && !m.stored, func(m *model) { m.stored = true })
	do("%c lets its claim go", up && n.phase == reported && m.claim == int8(i) && !m.claimEnded, func(m *model) { m.claimEnded = true })
	do("%c acknowledges", up && n.phase == reported && m.trigger, func(m *model) {
		if m.trigger = false; !m.stored {
			m.broken = acknowledgedBeforeItsEnd
		}
	})
}

// hears is what an instance may hear of the judge.
func (m *model) hears(i int, do func(string, bool, func(*model))) {
	if !m.nats {
		return
	}
	j := &m.judge
	do("the judge asks %c", j.step == askAll && j.said[i] == notAsked, func(m *model) {
		m.judge.said[i] = m.answer(i)
		if m.judge.said[0] != notAsked && m.judge.said[1] != notAsked {
			m.judge.step = readEnd
		}
	})
	do("%c is offered it", j.step == offer && m.reaches(i), func(m *model) {
		m.rest()
		if m.trigger && m.nodes[i].phase == idle {
			m.take(i)
			if m.judged {
				m.handed = int8(i)
			}
		}
	})
}

// judges is what the judge does.
func (m *model) judges(do func(string, bool, func(*model))) {
	if !m.nats {
		return
	}
	j := &m.judge
	do("the judge reads the claim", j.step == readClaim, func(m *model) { m.judge.claimed, m.judge.ended, m.judge.step = m.claim >= 0, m.claimEnded, askAll })
	do("the judge looks for the end", j.step == readEnd, func(m *model) { m.judge.end, m.judge.step = m.stored && !m.judge.ended, decide })
	do("the judge decides", j.step == decide, func(m *model) { m.decide() })
	do("nobody is offered it", j.step == offer, func(m *model) {
		m.rest()
		m.back = true
	})
	do("nobody is offered it, and dispatchers do not hear that", j.step == offer, func(m *model) { m.rest() })
}

// answer is what an instance says when it is asked.
func (m *model) answer(i int) said {
	switch {
	case !m.reaches(i) && m.nodes[i].gone:
		return gone
	case !m.reaches(i):
		return silent
	case m.has(i):
		return held
	case m.nodes[i].phase == reported:
		return hasReported
	}
	return none
}

func (m *model) rest() {
	m.judge.step, m.judge.claimed, m.judge.ended, m.judge.said, m.judge.end = resting, false, false, [instances]said{}, false
}

func (m *model) decide() {
	j := m.judge
	m.rest()
	for _, s := range j.said {
		switch s {
		case held:
			return // it gets the delivery
		case hasReported:
			m.trigger = false
			return
		case notAsked, silent, gone, none:
		}
	}
	switch {
	case j.end, j.ended:
		m.trigger = false
	case j.said[0] == silent || j.said[1] == silent:
	case m.atMostOnce && j.claimed:
		if m.lose(); j.ended {
			m.broken = lostThoughEnded
		}
	case m.atMostOnce: // nobody has begun it
		m.judge.step = offer
	default:
		m.count()
	}
}

// count counts the death of who had the attempt, which is free now.
func (m *model) count() {
	if m.handed >= 0 || m.pulled {
		if m.deaths++; !m.vanished {
			m.broken = countedTooOften
		}
		m.vanished = false
	}
	m.judged, m.pulled, m.handed = true, false, -1
	if m.deaths >= mostDeaths {
		m.lose()
	} else {
		m.judge.step = offer
	}
}

// vanish notes that an instance dies, or counts as gone, while it has the attempt.
func (m *model) vanish(i int) {
	m.vanished = m.vanished || m.has(i) && !m.atMostOnce
}

// watches is what the owner of the shard does about a run whose trigger has gone.
func (m *model) watches(do func(string, bool, func(*model))) {
	unknown := false
	for i := range instances {
		if s := m.answer(i); s == held || s == silent {
			unknown = true
		}
	}
	do("the watchdog ends it", m.nats && m.delivered && !m.trigger && !m.stored && !m.lost && !unknown, func(m *model) { m.lose() })
}

// origin is how a state was reached first.
type origin struct {
	from int
	by   event
}

// story returns the events that lead to a state.
func story(came []origin, n int) []string {
	var events []string
	for ; n != 0; n = came[n].from {
		events = append(events, came[n].by.String())
	}
	slices.Reverse(events)
	return events
}

// canEnd reports for each state whether the attempt can still end, if those live that are to.
func canEnd(all []model, steps [][2]int32) []bool {
	first := make([]int32, len(all)+1) // of the states before each, in before
	for _, s := range steps {
		first[s[1]+1]++
	}
	for n := range all {
		first[n+1] += first[n]
	}
	before, free := make([]int32, len(steps)), slices.Clone(first)
	for _, s := range steps {
		before[free[s[1]]] = s[0]
		free[s[1]]++
	}
	ends, todo := make([]bool, len(all)), []int32{}
	for n := range all {
		if ends[n] = all[n].done(); ends[n] {
			todo = append(todo, int32(n))
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range before[first[n]:first[n+1]] {
			if !ends[from] {
				ends[from], todo = true, append(todo, from)
			}
		}
	}
	return ends
}

func TestAtLengthNoOrderOfEventsBreaksAnAttempt(t *testing.T) {
	what := map[breach]string{
		begunAfterItsEnd: "an attempt is begun whose end an instance has stored that was never gone",
		begunTwice:       "an attempt that must not be done twice is begun twice",
		lostThoughHeld:   "an attempt is lost that an instance has which was never gone",
		countedTooOften:  "more executors are counted that died with an attempt than did",
		lostThoughEnded:  "an attempt is lost whose claim has told the judge that its end is stored",

		acknowledgedBeforeItsEnd: "a trigger is acknowledged whose attempt has no end that is stored",
	}
	for _, atMostOnce := range []bool{false, true} {
		first := model{atMostOnce: atMostOnce, nats: true, trigger: true, claim: -1, handed: -1}
		for i := range first.nodes {
			first.nodes[i].alive = true
		}
		all, came := []model{first}, []origin{{}}
		number := map[model]int32{first: 0}
		var steps [][2]int32 // from which state to which
		for k := 0; k < len(all); k++ {
			all[k].next(func(by event, after model) {
				n, seen := number[after]
				if !seen { // the instances are alike
					n, seen = number[after.mirrored()]
				}
				if !seen {
					n = int32(len(all))
					number[after] = n
					all, came = append(all, after), append(came, origin{k, by})
				}
				steps = append(steps, [2]int32{int32(k), n})
				if after.broken != whole {
					t.Fatalf("at most once %t: %s:\n\t%s", atMostOnce, what[after.broken], strings.Join(story(came, int(n)), "\n\t"))
				}
			})
		}
		if n := slices.Index(canEnd(all, steps), false); n >= 0 {
			t.Fatalf("at most once %t: this cannot end: %+v", atMostOnce, all[n])
		}
		t.Logf("at most once %t: %d states", atMostOnce, len(all))
	}
}
