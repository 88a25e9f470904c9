package clickhouse

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// histories are those of the places that some updates are about.
type histories struct {
	all []history
	at  map[place]int // in all
	of  []int         // in all, by update
}

func historiesOf(updates []logstore.Update) *histories {
	n := len(updates)
	h := &histories{all: make([]history, 0, n), at: make(map[place]int, n), of: make([]int, n)}
	first := make([]revision, n) // most places have one attempt, so that one block of memory does for all
	for i := range updates {
		p := placeOf(updates[i].RunID, updates[i].Piece)
		at, ok := h.at[p]
		if !ok {
			at = len(h.all)
			h.at[p], h.all = at, append(h.all, history{place: p, attempts: first[at : at : at+1]})
		}
		h.of[i] = at
	}
	return h
}

// changes returns the rows that make the table say what is now, in the table's order:
// ClickHouse need not sort them then, which is a third of what it does for a new row.
func (h *histories) changes(batch string) []stored {
	order := make([]int, len(h.all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return comparePlaces(&h.all[a].place, &h.all[b].place) })
	rows := make([]stored, 0, len(h.all))
	for _, i := range order {
		one := &h.all[i]
		one.supersede()
		if len(one.attempts) > 1 {
			slices.SortFunc(one.attempts, func(a, b revision) int { return cmp.Compare(a.number, b.number) })
		}
		for k := range one.attempts {
			rows = one.attempts[k].appendChanges(rows, batch)
		}
	}
	return rows
}

// comparePlaces is the order of the table's key. ClickHouse compares the second half of
// an id first.
func comparePlaces(a, b *place) int {
	return cmp.Or(
		cmp.Compare(a.fire, b.fire),
		cmp.Compare(binary.BigEndian.Uint64(a.id[8:]), binary.BigEndian.Uint64(b.id[8:])),
		cmp.Compare(binary.BigEndian.Uint64(a.id[:8]), binary.BigEndian.Uint64(b.id[:8])),
		cmp.Compare(a.index, b.index),
	)
}

// history is what the table has of one place, and what a write will make of it.
type history struct {
	place

	attempts []revision // one, as a rule
}

// revision is an attempt that changes.
type revision struct {
	number uint32
	rows   []counted // what the table has, with what does not cancel out
	last   uint32    // the highest revision that it had
	old    row       // what it shows; the zero row when there is none
	now    row
}

// counted is a row, and how often it is there: once, as a rule.
type counted struct {
	row
	n int
}

// settle returns the rows of one attempt that do not cancel out, and which of them
// counts: the newest that is there. None counts where the place of it is empty.
func settle(rows []stored) (left []counted, current row, last uint32) {
	for i := range rows {
		r := &rows[i]
		last = max(last, r.revision)
		if at := slices.IndexFunc(left, func(c counted) bool { return c.row == r.row }); at >= 0 {
			left[at].n += int(r.sign)
		} else {
			left = append(left, counted{r.row, int(r.sign)})
		}
	}
	left = slices.DeleteFunc(left, func(c counted) bool { return c.n == 0 })
	for _, c := range left {
		if c.n > 0 && (current.job == "" || c.revision > current.revision) {
			current = c.row
		}
	}
	return left, current, last
}

// attempt returns that of a number, which may be new. It is good until the next call.
func (h *history) attempt(number uint32) *revision {
	for i := range h.attempts {
		if h.attempts[i].number == number {
			return &h.attempts[i]
		}
	}
	h.attempts = append(h.attempts, revision{number: number, now: row{place: h.place}})
	return &h.attempts[len(h.attempts)-1]
}

// owner returns the job whose the attempts are, "" when there are none yet.
func (h *history) owner() job.Name {
	for i := range h.attempts {
		if name := h.attempts[i].now.job; name != "" {
			return name
		}
	}
	return ""
}

// supersede gives up the run's status of all attempts but the newest. What they say
// themselves stays.
func (h *history) supersede() {
	var newest uint32
	for i := range h.attempts {
		if r := &h.attempts[i]; r.now.job != "" {
			newest = max(newest, r.number)
		}
	}
	for i := range h.attempts {
		if r := &h.attempts[i]; r.number < newest && r.now.index < 0 {
			r.now.runStatus = 0
		}
	}
}

// appendChanges adds the rows that make the table say what is now. Where it held what
// should not be, because two programs wrote, that is put right, too.
func (r *revision) appendChanges(out []stored, batch string) []stored {
	r.now.revision = r.old.revision
	if r.now == r.old && len(r.rows) == 1 && r.rows[0].n == 1 {
		return out
	}
	measured := r.now.measurable() && !r.old.measurable()
	if r.now != r.old {
		r.now.revision = r.last + 1
	}
	missing := 1
	for _, c := range r.rows {
		if c.row == r.now {
			missing -= c.n
			continue
		}
		out = appendTimes(out, stored{row: c.row, batch: batch}, -c.n)
	}
	return appendTimes(out, stored{row: r.now, batch: batch, measured: measured}, missing)
}

func appendTimes(rows []stored, r stored, n int) []stored {
	r.sign = 1
	if n < 0 {
		r.sign, n = -1, -n
	}
	for range n {
		rows = append(rows, r)
	}
	return rows
}

// standing returns the rows that count among those that the table has, in their order of
// lists. Rows of one attempt must all be there.
func standing(rows []stored) []row {
	slices.SortStableFunc(rows, func(a, b stored) int { return compareRows(&a.row, &b.row) })
	var all []row
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r stored) bool { return compareRows(&r.row, &rows[0].row) != 0 })
		if n < 0 {
			n = len(rows)
		}
		if n == 1 && rows[0].sign > 0 {
			all = append(all, rows[0].row)
		} else if _, current, _ := settle(rows[:n]); current.job != "" {
			all = append(all, current)
		}
		rows = rows[n:]
	}
	return all
}

// compareRows is the order of lists: the newest first.
func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(b.fire, a.fire), slices.Compare(b.id[:], a.id[:]), cmp.Compare(b.attempt, a.attempt), cmp.Compare(b.index, a.index))
}
