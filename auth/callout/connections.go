package callout

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// DefaultConnections is how many connections a group may have.
const DefaultConnections = 256

// crowds counts the connections of the groups. It is safe for concurrent use.
//
// Each server counts those that it admits at once, and those that others admit with the
// next sweep. So for a moment there may be more than the limit: the sweep closes those.
type crowds struct {
	limit int

	mu    sync.Mutex
	conns map[connection]counted
	of    map[string]int // by group
}

// member is a connection of a group, as NATS lists it.
type member struct {
	group string
	id    string    // of its credential
	began time.Time // by the clock of NATS
}

// counted is a connection that counts.
type counted struct {
	group string
	known time.Time // when it was admitted or listed last, by our clock
}

// fullError says that a group has as many connections as it may.
type fullError struct {
	group string
	limit int
}

func (e *fullError) Error() string {
	return fmt.Sprintf("group %s has %d connections, as many as --group-connections allows", e.group, e.limit)
}

func newCrowds(limit int) *crowds {
	if limit == 0 {
		limit = DefaultConnections
	}
	return &crowds{limit: limit, conns: map[connection]counted{}, of: map[string]int{}}
}

// admit takes a connection in, unless its group has too many.
func (c *crowds) admit(group string, conn connection, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[group] >= c.limit {
		return &fullError{group, c.limit}
	}
	c.putLocked(conn, counted{group, now})
	return nil
}

// ended takes in that a connection has ended.
func (c *crowds) ended(conn connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(conn)
}

// listed takes in which connections there are, as they were listed since an instant. It returns those
// that are too many, the youngest ones of their groups.
func (c *crowds) listed(all map[connection]member, since time.Time) (excess map[connection]*fullError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, m := range c.conns {
		if _, there := all[conn]; !there && m.known.Before(since) {
			c.dropLocked(conn)
		}
	}
	groups := map[string][]connection{}
	for conn, m := range all {
		c.putLocked(conn, counted{m.group, since})
		groups[m.group] = append(groups[m.group], conn)
	}
	excess = map[connection]*fullError{}
	for group, conns := range groups {
		if len(conns) <= c.limit {
			continue
		}
		slices.SortFunc(conns, func(a, b connection) int {
			return cmp.Or(all[a].began.Compare(all[b].began), cmp.Compare(a.server, b.server), cmp.Compare(a.cid, b.cid))
		})
		for _, conn := range conns[c.limit:] {
			excess[conn] = &fullError{group, c.limit}
		}
	}
	return excess
}

func (c *crowds) putLocked(conn connection, m counted) {
	if _, known := c.conns[conn]; !known {
		c.of[m.group]++
	}
	c.conns[conn] = m
}

func (c *crowds) dropLocked(conn connection) {
	m, known := c.conns[conn]
	if !known {
		return
	}
	delete(c.conns, conn)
	if c.of[m.group]--; c.of[m.group] == 0 {
		delete(c.of, m.group)
	}
}
