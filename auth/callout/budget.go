package callout

import (
	"fmt"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/carillon-scheduler/carillon/cluster"
)

// Bounds of what a group may send.
const (
	// DefaultBudget is how many bytes a second a group may send for long.
	DefaultBudget = 16 << 20
	// burst is for how many seconds of it a group may be ahead.
	burst = 16
	// messageCost is what a message costs besides its bytes: small ones are work, too.
	messageCost = 512
	// refusedFor is how long a group is refused that has sent more. It doubles up to
	// maxRefusedFor while that happens again and again.
	refusedFor    = time.Minute
	maxRefusedFor = 30 * time.Minute
	// fillTime is how long a group would take at least to fill what is left of EVT, once
	// half of it is full.
	fillTime = time.Hour
)

// budgets counts what the groups send. It is safe for concurrent use.
type budgets struct {
	mu     sync.Mutex
	rate   float64 // bytes a second that each group may send
	normal float64
	groups map[string]*account
	conns  map[connection]int64 // what each has been charged
}

// account is what a group has sent beyond its rate.
type account struct {
	spent float64
	at    time.Time // when spent was right
	until time.Time // the group is refused until then
	again time.Duration
	why   cluster.Refusal // the last
}

type connection struct {
	server string
	cid    uint64
}

func newBudgets(rate int64) *budgets {
	if rate == 0 {
		rate = DefaultBudget
	}
	return &budgets{rate: float64(rate), normal: float64(rate), groups: map[string]*account{}, conns: map[connection]int64{}}
}

// room says how much of EVT is used. While more than half is, no group may send so much
// that it would fill the rest within fillTime.
func (b *budgets) room(used, limit uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate = b.normal
	if limit > 0 && used > limit/2 {
		b.rate = min(b.normal, max(float64(limit)-float64(used), 0)/fillTime.Seconds())
	}
}

// charge takes in what a connection has sent since it began. It reports whether the group
// has just been found to send more than it may, and until when it is refused.
func (b *budgets) charge(group string, c connection, bytes, messages int64, now time.Time) (over bool, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	cost := bytes + messageCost*messages
	more := cost - b.conns[c]
	b.conns[c] = cost
	a := b.accountLocked(group, now)
	a.spent = max(a.spent-b.rate*now.Sub(a.at).Seconds(), 0) + float64(max(more, 0))
	a.at = now
	if a.spent <= burst*b.normal || now.Before(a.until) {
		return false, a.until
	}
	a.refuse(cluster.Refusal{}, now)
	return true, a.until
}

// refuse refuses the group from now on.
func (a *account) refuse(why cluster.Refusal, now time.Time) {
	if a.again = min(max(2*a.again, refusedFor), maxRefusedFor); now.Sub(a.until) > maxRefusedFor {
		a.again = refusedFor
	}
	a.until, a.spent, a.why = now.Add(a.again), 0, why
}

// found refuses a group for what it keeps or gives back, unless it is refused already. It reports
// whether it was not, and until when it is.
func (b *budgets) found(why cluster.Refusal, now time.Time) (over bool, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accountLocked(why.Group, now)
	if now.Before(a.until) {
		return false, a.until
	}
	a.refuse(why, now)
	return true, a.until
}

func (b *budgets) accountLocked(group string, now time.Time) *account {
	a := b.groups[group]
	if a == nil {
		a = &account{at: now}
		b.groups[group] = a
	}
	return a
}

// ended takes in what a connection had sent when it ended.
func (b *budgets) ended(group string, c connection, bytes, messages int64, now time.Time) (over bool, until time.Time) {
	over, until = b.charge(group, c, bytes, messages, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
	return over, until
}

// refuse refuses a group as another server does.
func (b *budgets) refuse(r cluster.Refusal, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accountLocked(r.Group, now)
	if until := earlier(r.Until, now.Add(maxRefusedFor)); until.After(a.until) {
		a.until, a.spent, a.why = until, 0, r
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// check returns an error, which the executors are told, while one of groups is refused.
func (b *budgets) check(groups []string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, group := range groups {
		a := b.groups[group]
		if a == nil || !now.Before(a.until) {
			continue
		}
		until := a.until.UTC().Format(time.RFC3339)
		if kept := a.why.Kept; kept != nil {
			return fmt.Errorf("group %s had %d keys in the bucket %s, of at most %d, and is refused until %s", group, kept.Keys, kept.Bucket, kept.MaxKeys, until)
		}
		if a.why.GaveBack > 0 {
			return fmt.Errorf("group %s gave triggers back without a delay, %d times within %s, and is refused until %s", group, a.why.GaveBack, hastyWindow, until)
		}
		return fmt.Errorf("group %s sent more than its budget of %s/s and is refused until %s", group, humanize.IBytes(uint64(b.normal)), until)
	}
	return nil
}

// forget drops connections that are not listed any more, and groups that owe nothing.
func (b *budgets) forget(listed map[connection]member, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		if _, there := listed[c]; !there {
			delete(b.conns, c)
		}
	}
	for name, a := range b.groups {
		if now.Sub(a.at) > 2*maxRefusedFor && now.Sub(a.until) > 2*maxRefusedFor {
			delete(b.groups, name)
		}
	}
}
