package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

const (
	// mostRooms is how many times as many triggers of a consumer may wait here as there is room for,
	// if they come again. comesAgain is how long after bus.AckWait a trigger is ready to come again.
	mostRooms  = 4
	comesAgain = 2 * time.Second
	// freeAfter is how long after an instance has said that a run has ended its slot is
	// free: when it has heard that this is stored.
	freeAfter = 5 * time.Millisecond
	// countEvery is the least time between two counts of the runs that are alive, and
	// countWait how long one may take.
	countEvery = 20 * time.Millisecond
	countWait  = time.Second
	// countAgain is for how long a partition that has not answered is not asked while others
	// answer: nothing begins while one is waited for.
	countAgain = 5 * time.Second
)

// governor limits how many runs of a group begin. The placer's goroutine owns all of it but what the
// mutex guards. A nil one limits nothing.
type governor struct {
	g      *group
	limits cluster.GroupLimits
	tokens *rate.Limiter // nil: there is no rate

	// live is how many runs are alive at most, by partition: by the last count, and those that
	// have begun since. At first it is not known, and may be as many as the limit. room is how
	// many more may begin. Neither is used without a limit.
	live    []live
	room    int
	counted time.Time

	again   []bool    // by consumer: some may come again, which are pulled also when there is no room
	againAt time.Time // when that is so next, for all of them

	finished chan string // instances with a run that has just ended; some may be missing
	mu       sync.Mutex
	over     map[bus.AttemptRef]bool // attempts that have just ended
}

// live is how many runs of the group are alive in a partition at most. If it is silent, it is not
// asked again before an instant.
type live struct {
	runs  int
	again time.Time
}

func newGovernor(g *group, limits cluster.GroupLimits, consumers int) *governor {
	now := time.Now()
	v := &governor{g: g, limits: limits, again: make([]bool, consumers), finished: make(chan string, maxOffers), over: map[bus.AttemptRef]bool{}}
	v.againAt = now.Add(bus.AckWait + comesAgain) // when the triggers of an earlier holder of the lease come again
	for range g.d.conn.Trigs() {
		v.live = append(v.live, live{runs: limits.Limit})
	}
	if limits.Rate > 0 {
		// A tenth of a second's runs may begin at once, but none at the beginning: what an
		// earlier holder of the lease has just begun is not known.
		v.tokens = rate.NewLimiter(rate.Limit(limits.Rate), max(1, int(limits.Rate/10)))
		v.tokens.ReserveN(now, v.tokens.Burst())
	}
	return v
}

// listen follows the ends of runs until stop is called. It returns the channel of instances that have
// become free.
func (v *governor) listen(ctx context.Context) (finished <-chan string, stop func()) {
	if v == nil {
		return nil, func() {}
	}
	sub, err := v.g.d.conn.NC.Subscribe(bus.SubjectEvents(v.g.name), v.noteEnd)
	if err != nil {
		v.g.d.log.DebugContext(ctx, "ends of runs not heard", "error", err) // places are found some time later
		return nil, func() {}
	}
	return v.finished, func() { _ = sub.Unsubscribe() }
}

// noteEnd notes which runs have ended, as their executor reports. It must not wait.
func (v *governor) noteEnd(m *nats.Msg) {
	for e, err := range v.g.d.conn.Events().Decode(m.Subject, m.Header, m.Data, time.Now()) {
		if err != nil || e.Kind != bus.EventFinished {
			continue // forged or damaged; ingest counts it
		}
		v.mu.Lock()
		v.over[e.Ref()] = true
		v.mu.Unlock()
		select {
		case v.finished <- e.Instance:
		default:
		}
	}
}

// dropEnded takes out of the queue what has ended there: a run that was called off, or one that came
// again and is alive elsewhere. JetStream counts it as delivered no longer, so it would make room for
// another.
func (v *governor) dropEnded(q *queue) {
	if v == nil {
		return
	}
	v.mu.Lock()
	over := v.over
	v.over = map[bus.AttemptRef]bool{}
	v.mu.Unlock()
	if len(over) > 0 {
		q.takeIf(func(w *waiting) bool { return over[w.t.Ref()] }) // if it is there all the same, it comes again
	}
}

// tick has triggers pulled now and then that come again.
func (v *governor) tick(now time.Time) {
	if v != nil && now.After(v.againAt) {
		v.againAt = now.Add(keepFor)
		for source := range v.again {
			v.again[source] = true
		}
	}
}

// redelivered returns for how many triggers that come again there is room beyond a consumer's own,
// when so many of it wait. All that has been delivered, and is neither waiting here nor alive, counts as
// alive until it does. JetStream hands it out before what is new.
func (v *governor) redelivered(source, waiting, room int) int {
	if v != nil && v.again[source] && waiting < mostRooms*room {
		return 1
	}
	return 0
}

// noteNew notes that a consumer has nothing that comes again.
func (v *governor) noteNew(source int) {
	if v != nil {
		v.again[source] = false
	}
}

// noteRedelivered notes that a run that counted as alive may not be. Only a silent partition needs it:
// others are counted again.
func (v *governor) noteRedelivered(partition int, now time.Time) {
	if v != nil && now.Before(v.live[partition].again) {
		v.occupy(partition, -1)
	}
}

// permit returns the token with which a run may begin, nil if there is no rate, or else after how long
// to ask again.
func (v *governor) permit(ctx context.Context, q *queue, now time.Time) (token *rate.Reservation, wait time.Duration) {
	if v == nil {
		return nil, 0
	}
	if v.limits.Limit > 0 && v.room <= 0 {
		if since := now.Sub(v.counted); since < countEvery {
			return nil, countEvery - since
		}
		if v.count(ctx, q); v.room <= 0 {
			return nil, countEvery
		}
	}
	if v.tokens != nil {
		token = v.tokens.ReserveN(now, 1)
		if wait := token.DelayFrom(now); wait > 0 {
			token.CancelAt(now)
			return nil, wait
		}
	}
	return token, 0
}

// count finds out how many runs of the group are alive: those that have been delivered and
// do not wait here. Those on their way to here count as alive for the moment, and so do those of
// a partition that does not answer, until it does.
func (v *governor) count(ctx context.Context, q *queue) {
	now := time.Now()
	var streams []string
	var asked []int
	for p, stream := range v.g.d.conn.Trigs() {
		if !now.Before(v.live[p].again) {
			streams, asked = append(streams, stream), append(asked, p)
		}
	}
	asking, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	found, errs := v.g.d.conn.Groups().Backlogs(asking, v.g.name, streams)
	v.counted = time.Now()
	v.dropEnded(q)                         // before those that wait are counted
	answered := slices.Contains(errs, nil) // else it is the connection, or all that is there
	for i, p := range asked {
		if errs[i] == nil {
			v.live[p].runs = found[i].Delivered - q.of(p)
			continue
		}
		v.g.d.log.DebugContext(ctx, "live runs not counted", "executor_group", v.g.name, "error", errs[i])
		if answered {
			v.live[p].again = v.counted.Add(countAgain)
		}
	}
	v.room = v.limits.Limit
	for _, l := range v.live {
		v.room -= l.runs
	}
}

// occupy adds to the runs of a partition that are alive.
func (v *governor) occupy(partition, runs int) {
	if v != nil {
		v.live[partition].runs += runs
		v.room -= runs
	}
}
