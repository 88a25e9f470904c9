package alerting

import (
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/chinese"
)

// Language is one that alerts are written in.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Languages lists them, the default first.
var Languages = []Language{English, Chinese}

// Code names a sentence of the table in codes.go.
type Code string

// Params are the values that a sentence is about, by name: counts in digits, instants as
// RFC 3339 in UTC, durations as 1m30s.
type Params map[string]string

// Reason returns the parameter that says why.
func (p Params) Reason() reason.Text { return reason.Text(p["reason"]) }

// Sentence is something that people are told, by its code, so that each reads it in their
// own language.
type Sentence struct {
	Code   Code
	Params Params
}

// Reader is whom a text is for.
type Reader struct {
	Language Language       // defaults to English
	Zone     *time.Location // of instants; nil has them in UTC, as RFC 3339
}

// Say returns a sentence about parameters that are given as name and value in turns. Those
// without a value are left out.
func Say(code Code, params ...string) Sentence {
	s := Sentence{Code: code}
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] == "" {
			continue
		}
		if s.Params == nil {
			s.Params = Params{}
		}
		s.Params[params[i]] = params[i+1]
	}
	return s
}

// English returns the sentence as those have it who do not know its code.
func (s Sentence) English() string { return s.In(Reader{}) }

// In returns the sentence in a reader's language, or "" when its code is unknown.
func (s Sentence) In(r Reader) string {
	templates, known := codes[s.Code]
	if !known {
		return ""
	}
	filled, _ := fill(templates.in(r.Language), s.Params, r)
	return filled
}

// Or returns the sentence in a reader's language, or text when the code is unknown.
func (s Sentence) Or(text string, r Reader) string {
	if known := s.In(r); known != "" {
		return known
	}
	return text
}

// fill replaces {name} by a parameter, and {name|one|many} by the first text if the
// parameter is 1, else by the second. What is in brackets is left out unless all its
// parameters are there; complete says whether they are. The console does the same, see
// frontend/src/lib/sentence.ts.
func fill(template string, params Params, r Reader) (text string, complete bool) {
	var b strings.Builder
	complete = true
	for template != "" {
		i := strings.IndexAny(template, "[{")
		if i < 0 {
			break
		}
		b.WriteString(template[:i])
		end := "]"
		if template[i] == '{' {
			end = "}"
		}
		inner, rest, _ := strings.Cut(template[i+1:], end)
		if end == "]" {
			if part, whole := fill(inner, params, r); whole {
				b.WriteString(part)
			}
			template = rest
			continue
		}
		name, forms, counted := strings.Cut(inner, "|")
		value, given := params[name]
		complete = complete && given
		if counted {
			one, many, _ := strings.Cut(forms, "|")
			if value != "1" {
				one = many
			}
			b.WriteString(one)
		} else {
			b.WriteString(valueFor(r, name, value))
		}
		template = rest
	}
	b.WriteString(template)
	return b.String(), complete
}

// valueFor writes the value of a parameter for a reader.
func valueFor(r Reader, name, value string) string {
	switch kinds[name] {
	case statusKind:
		return r.Status(job.Status(value))
	case instantKind:
		return r.instant(value)
	case reasonKind:
		return r.Reason(value)
	case asItIs:
	}
	return value
}

// Instant writes an instant in the reader's zone, with the zone's name.
func (r Reader) Instant(at time.Time) string {
	switch r.Zone {
	case nil:
		return at.UTC().Format(time.RFC3339)
	case time.UTC:
		return at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	// The offset tells the two hours apart that have one name when a clock is set back.
	return at.In(r.Zone).Format("2006-01-02 15:04:05 -07:00 ") + r.Zone.String()
}

// Reason writes a reason in the reader's language. Text that is none of ours stays as it is.
func (r Reader) Reason(text string) string {
	said := reason.Read(text)
	w := reason.Writer{Template: reason.English, Value: r.value, Joint: reason.Joint}
	if r.Language == Chinese {
		w.Template, w.Joint = chinese.Sentence, chinese.Joint
	}
	return w.Write(&said)
}

// value writes the value of a reason's parameter.
func (r Reader) value(kind reason.Kind, value string) string {
	switch kind {
	case reason.Status:
		if r.Language != Chinese {
			return reason.Past(value)
		}
		return r.Status(job.Status(value))
	case reason.State:
		if r.Language == Chinese {
			return r.Status(job.Status(value))
		}
	case reason.Instant:
		return r.instant(value)
	case reason.Number, reason.Duration, reason.Word, reason.Phrase, reason.Weekday, reason.Month, reason.Free:
	}
	return value
}

// instant writes an instant that is given as RFC 3339, which it stays if the reader has no zone.
func (r Reader) instant(value string) string {
	if at, err := time.Parse(time.RFC3339, value); err == nil && r.Zone != nil {
		return r.Instant(at)
	}
	return value
}

// Status tells a status as part of a sentence about a job.
func (r Reader) Status(s job.Status) string {
	words := statusWords[s]
	switch {
	case r.Language == Chinese && words.Chinese != "":
		return words.Chinese
	case words.English != "":
		return words.English
	}
	return string(s)
}

// Failure is an error that has a code.
type Failure struct{ Sentence }

func (f *Failure) Error() string { return f.English() }

// SentenceOf returns the sentence of an error, which stands in it as it is when it has no
// code.
func SentenceOf(err error) Sentence {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Sentence
	}
	return Say("not_sent", "error", err.Error())
}
