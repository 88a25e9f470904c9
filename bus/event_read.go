package bus

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// readEvent reads what [Event.Msg] writes for most runs, in a third of the time of
// package json: schedulers and the history read every event. With a token, it reads an end in a pack, which
// has one. It returns false for
// anything unusual (escapes, white space, results, unknown fields, mistakes); package
// json reads that. What both can read, both read alike.
func readEvent(data []byte, e *Event, token *string) bool {
	s := scanner{text: string(data)} // one copy; all texts of the event are parts of it
	if !s.skip('{') {
		return false
	}
	for {
		key := s.str()
		if !s.skip(':') {
			return false
		}
		switch key {
		case "token":
			if token == nil {
				return false
			}
			*token = s.str()
		case "kind":
			e.Kind = EventKind(s.str())
		case "run_id":
			e.RunID = job.RunID(s.str())
		case "job":
			e.Job = job.Name(s.str())
		case "version":
			e.Version = s.number()
		case "shard":
			e.Shard = s.number()
		case "attempt":
			e.Attempt = s.number()
		case "cause":
			e.Cause = job.Cause(s.str())
		case "fire_time":
			e.FireTime = s.instant()
		case "committed_at":
			e.CommittedAt = s.instant()
		case "broadcast_index":
			e.Index = s.number()
		case "broadcast_total":
			e.Total = s.number()
		case "instance":
			e.Instance = s.str()
		case "delivery":
			e.Delivery = s.number()
		case "at":
			e.At = s.instant()
		case "delivered_at":
			e.DeliveredAt = s.instant()
		case "started_at":
			e.StartedAt = s.instant()
		case "finished_at":
			e.FinishedAt = s.instant()
		case "status":
			e.Status = job.Status(s.str())
		case "exit_code":
			code := s.number()
			e.ExitCode = &code
		case "message":
			e.Message = s.str()
		case "log_lines":
			e.LogLines = s.number()
		default:
			return false
		}
		if s.unusual {
			return false
		}
		if s.skip('}') {
			return s.at == len(s.text)
		}
		if !s.skip(',') {
			return false
		}
	}
}

// scanner reads the simplest of JSON.
type scanner struct {
	text    string
	at      int
	unusual bool // something was not as simple
}

// skip passes over a byte, if it is next.
func (s *scanner) skip(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// str reads a string of printable ASCII without escapes.
func (s *scanner) str() string {
	if !s.skip('"') {
		s.unusual = true
		return ""
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			word := s.text[s.at:i]
			s.at = i + 1
			return word
		case c < ' ' || c > '~' || c == '\\':
			s.unusual = true
			return ""
		}
	}
	s.unusual = true
	return ""
}

// maxDigits is how many digits any int has room for.
const maxDigits = 9

// number reads a whole number that is not negative.
func (s *scanner) number() int {
	n, from := 0, s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		n = 10*n + int(s.text[s.at]-'0')
		if s.at++; s.at-from > maxDigits {
			break
		}
	}
	if digits := s.at - from; digits < 1 || digits > maxDigits || digits > 1 && s.text[from] == '0' {
		s.unusual = true
	}
	return n // the caller checks what follows the number, such as a fraction, which is unusual too
}

// instant reads an instant in UTC, as RFC 3339 writes it.
func (s *scanner) instant() time.Time {
	text := s.str()
	const seconds = len("2026-01-05T00:00:00")
	if len(text) < seconds+1 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[len(text)-1] != 'Z' {
		s.unusual = true
		return time.Time{}
	}
	part := func(from, to int) int {
		n := 0
		for _, c := range []byte(text[from:to]) {
			if c < '0' || c > '9' {
				s.unusual = true
			}
			n = 10*n + int(c-'0')
		}
		return n
	}
	year, month, day, hour, minute, second := part(0, 4), part(5, 7), part(8, 10), part(11, 13), part(14, 16), part(17, seconds)
	nanos := 0
	if fraction := text[seconds : len(text)-1]; fraction != "" {
		if fraction[0] != '.' || len(fraction) < 2 || len(fraction) > 10 {
			s.unusual = true
			return time.Time{}
		}
		nanos = part(seconds+1, len(text)-1)
		for range 10 - len(fraction) {
			nanos *= 10
		}
	}
	// A date that there is not, such as the 31st of a shorter month, becomes another.
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if y, m, d := t.Date(); y != year || int(m) != month || d != day || hour > 23 || minute > 59 || second > 59 {
		s.unusual = true
	}
	return t
}
