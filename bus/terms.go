package bus

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// terms are what readers of an end have to know of its trigger. A token has them as text behind its
// MAC, such as ".r.t3000": a dot, a letter, and a number in milliseconds.
type terms struct {
	repeats bool          // r: another attempt may follow
	timeout time.Duration // t; 0: none
	endBy   int64         // e: in Unix milliseconds; 0: none
}

func termsOf(t *Trigger, repeats bool) terms {
	limits := terms{repeats: repeats || t.Split, timeout: t.Timeout.Std().Truncate(time.Millisecond)}
	if !t.EndBy.IsZero() {
		limits.endBy = t.EndBy.UnixMilli()
	}
	return limits
}

// append appends the terms as a token has them.
func (t terms) append(dst []byte) []byte {
	if t.repeats {
		dst = append(dst, ".r"...)
	}
	if t.timeout != 0 {
		dst = strconv.AppendInt(append(dst, ".t"...), t.timeout.Milliseconds(), 10)
	}
	if t.endBy != 0 {
		dst = strconv.AppendInt(append(dst, ".e"...), t.endBy, 10)
	}
	return dst
}

// parseTerms reads what append has written, and nothing else.
func parseTerms(text string) (t terms, ok bool) {
	for rest := strings.TrimPrefix(text, "."); rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, ".")
		n, err := int64(0), error(nil)
		if len(part) > 1 {
			n, err = strconv.ParseInt(part[1:], 10, 64)
		}
		switch {
		case err != nil || part == "":
			return terms{}, false
		case part[0] == 'r':
			t.repeats = true
		case part[0] == 't':
			t.timeout = time.Duration(n) * time.Millisecond
		case part[0] == 'e':
			t.endBy = n
		}
	}
	return t, string(t.append(nil)) == text
}

// How much later than its limit an end is believed that an executor does not report as timed_out.
// Whatever it measures by one clock is exact; instants of two clocks may be a minute apart.
const (
	limitSlack = time.Second
	clockSlack = maxAhead
)

// limit changes a reported end to timed_out if the attempt took longer than its trigger allows. The
// message keeps the status that the executor reported.
func (e *Event) limit(t terms) {
	if e.Kind != EventFinished || e.Status != job.StatusSucceeded && e.Status != job.StatusFailed || e.StartedAt.IsZero() {
		return
	}
	var why string
	took := e.FinishedAt.Sub(e.StartedAt)
	switch by := time.UnixMilli(t.endBy).UTC(); {
	case t.timeout > 0 && took > t.timeout+limitSlack:
		why = reason.TimedOut.With(job.Duration(t.timeout))
	case t.endBy != 0 && (e.FinishedAt.Sub(by) > clockSlack || !e.CommittedAt.IsZero() && took > by.Sub(e.CommittedAt)+limitSlack):
		why = reason.EndBy.With(by)
	default:
		return
	}
	e.Message = cutText(reason.Join(why, reason.Reported.With(e.Status), e.Message), MaxMessage)
	e.Status = job.StatusTimedOut
}
