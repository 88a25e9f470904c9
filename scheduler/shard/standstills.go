package shard

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Standstill is a stretch of time in which an owner of the shard decided nothing, for a reason
// that is not the shard's. Fires that were due in it are decided late, and say why.
type Standstill struct {
	From, To int64  // in Unix milliseconds; both belong to it
	Reason   string // such as "the clock of node a was 1m30s ahead of NATS' clock"
}

// standstills are the latest of them, in the order in which the machine was told.
type standstills struct{ list []Standstill }

const (
	// maxStandstills bounds how many a machine remembers: the latest ones.
	maxStandstills = 8
	// tellAfter is how many milliseconds late a fire within its grace is decided until it says why.
	tellAfter = 1000
)

// add enters a standstill, which may be known already.
func (st *standstills) add(s Standstill) {
	if slices.Contains(st.list, s) {
		return
	}
	if len(st.list) == maxStandstills {
		st.list = slices.Delete(st.list, 0, 1)
	}
	st.list = append(st.list, s)
}

// StoodStill notes a standstill. A caller may report the same one again.
func (m *Machine) StoodStill(s Standstill) { m.fires.standstills.add(s) }

// StoodStillUntil notes a standstill from the position until now: a predecessor decided nothing in it.
func (m *Machine) StoodStillUntil(now int64, why string) {
	m.StoodStill(Standstill{From: m.sweep.done, To: now, Reason: why})
}

// because says why fires that were due in [first, last] are decided late: or
// nothing when that is not known.
func (st *standstills) because(first, last int64) string {
	for _, s := range slices.Backward(st.list) {
		if first <= s.To && last >= s.From {
			return s.Reason
		}
	}
	return ""
}

// misfireReason says how late a fire that runs all the same was noticed, and why if that is known.
func (st *standstills) misfireReason(due, now int64) string {
	return reason.Join(reason.NoticedLate.With(lateness(due, now)), st.because(due, due))
}

// withinGrace returns why a fire within its grace is decided late; "" when that is not known.
func (st *standstills) withinGrace(due, now int64) string {
	if now-due < tellAfter {
		return ""
	}
	if why := st.because(due, due); why != "" {
		return reason.Join(reason.DecidedLate.With(lateness(due, now)), why)
	}
	return ""
}

func lateness(due, now int64) string {
	return job.Duration(time.Duration(now-due) * time.Millisecond).String()
}
