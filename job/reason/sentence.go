package reason

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Sentence is a row of the table: a code and an English template.
//
// A template has its parameters in braces, with their kinds, {by:word}, and words that go with
// a number, {runs|run|runs}. The same parameter may appear once only.
type Sentence struct {
	Code   string
	Params []Param
	// Follows says that it stands only after another sentence: alone, its words are too much like
	// those that others write.
	Follows bool
	// Refusal says that it answers a request, and is no word of a run.
	Refusal bool
	// Finding says that it is of package finding: a first visit of the console does not need it.
	Finding bool
	// Template is the English text, with the parameters in braces.
	Template string
	pieces   []string // the words before, between and after the parameters
	read     func() *regexp.Regexp
}

// Param is a parameter of a sentence.
type Param struct {
	Name string
	Kind Kind
	one  string // of words that go with a number
	many string
}

// Kind says what the value of a parameter looks like.
type Kind string

// The kinds of parameters.
const (
	Number   Kind = "number"   // digits
	Duration Kind = "duration" // as job.Duration, such as 1h30m
	Instant  Kind = "instant"  // as RFC 3339, in UTC
	Word     Kind = "word"     // without spaces: a name, an id
	Status   Kind = "status"   // of a run; the value is its code, the template has words
	State    Kind = "state"    // a status or outcome, by its code
	Phrase   Kind = "phrase"   // text on one line, without a semicolon
	Weekday  Kind = "weekday"  // in English, such as Saturday
	Month    Kind = "month"    // in English, such as March
	Free     Kind = "free"     // any text, to the end
)

// forms are what values of each kind match.
var forms = map[Kind]string{
	Number: `-?\d+`, Duration: `-?\d[0-9a-zµ.]*`, Instant: `\d{4,}-\d\d-\d\dT[0-9:.]+Z`, Word: `\S+?`, Phrase: `[^\n;]+?`, Free: `(?s:.+)`,
	State: `[a-z_]+`, Weekday: `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`,
	Month:  `January|February|March|April|May|June|July|August|September|October|November|December`,
	Status: `succeeded|failed|timed out|cancelled|was lost|skipped|missed|pending|queued|running`,
}

// all is the table, in the order of its files.
var all []*Sentence

// Sentences returns the table.
func Sentences() []*Sentence { return slices.Clone(all) }

var slot = regexp.MustCompile(`\{([a-z_]+)(?::([a-z]+)|\|([^|}]*)\|([^|}]*))\}`)

// Refuse adds a row to the table that answers a request. It is called some 100 times when a program starts: inline it
// would make each program larger.
//
//go:noinline
func Refuse(code, template string) *Sentence {
	s := Define(code, template)
	s.Refusal = true
	return s
}

// Define adds a row to the table, for this package and those below it.
func Define(code, template string) *Sentence {
	s := &Sentence{Code: code, Template: template}
	read, at := strings.Builder{}, 0
	read.WriteString("^")
	for _, m := range slot.FindAllStringSubmatchIndex(template, -1) {
		p := Param{Name: template[m[2]:m[3]], Kind: Number}
		if m[4] >= 0 {
			p.Kind = Kind(template[m[4]:m[5]])
		} else {
			p.one, p.many = template[m[6]:m[7]], template[m[8]:m[9]]
		}
		form, known := forms[p.Kind]
		if !known {
			panic("BUG: sentence " + code + " has a parameter of an unknown kind")
		}
		words := template[at:m[0]]
		read.WriteString(regexp.QuoteMeta(words) + "(" + form + ")")
		if p.one != "" {
			read.WriteString(" (?:" + regexp.QuoteMeta(p.one) + "|" + regexp.QuoteMeta(p.many) + ")")
		}
		s.pieces, s.Params, at = append(s.pieces, words), append(s.Params, p), m[1]
	}
	s.pieces = append(s.pieces, template[at:])
	read.WriteString(regexp.QuoteMeta(template[at:]) + "(?:" + Joint + "|$)")
	pattern := read.String()
	s.read = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }) // most programs only write
	all = append(all, s)
	return s
}

// Further adds a row that only follows others.
//
//go:noinline
func Further(code, template string) *Sentence {
	s := Define(code, template)
	s.Follows = true
	return s
}

// The types of sentences say how many parameters they have, so that one that is left out does
// not compile.
type (
	// None is a sentence without parameters.
	None struct{ *Sentence }
	// One is a sentence with one parameter.
	One struct{ *Sentence }
	// Two is a sentence with two parameters.
	Two struct{ *Sentence }
	// Three is a sentence with three parameters.
	Three struct{ *Sentence }
	// Five is a sentence with five parameters.
	Five struct{ *Sentence }
)

// String returns the sentence.
func (s None) String() string { return s.say() }

// With returns the sentence with its parameter.
func (s One) With(a any) string { return s.say(a) }

// With returns the sentence with its parameters, in their order.
func (s Two) With(a, b any) string { return s.say(a, b) }

// With returns the sentence with its parameters, in their order.
func (s Three) With(a, b, c any) string { return s.say(a, b, c) }

// With returns the sentence with its parameters, in their order.
func (s Five) With(a, b, c, d, e any) string { return s.say(a, b, c, d, e) }

// Say returns the sentence with its parameters by their names.
func (s *Sentence) Say(params map[string]string) string {
	args := make([]any, len(s.Params))
	for i, p := range s.Params {
		args[i] = params[p.Name]
	}
	return s.say(args...)
}

func (s *Sentence) say(args ...any) string {
	var b strings.Builder
	for i, arg := range args {
		p := &s.Params[i]
		b.WriteString(s.pieces[i])
		value := written(arg)
		if p.Kind == Status {
			value = Past(value)
		}
		b.WriteString(value)
		switch {
		case p.one == "":
		case value == "1":
			b.WriteString(" " + p.one)
		default:
			b.WriteString(" " + p.many)
		}
	}
	b.WriteString(s.pieces[len(s.Params)])
	return b.String()
}

func written(a any) string {
	switch v := a.(type) {
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	default:
		return fmt.Sprint(v)
	}
}

// Past returns a status as an English sentence has it, and status reads that.
func Past(status string) string {
	switch status {
	case "timed_out":
		return "timed out"
	case "lost":
		return "was lost"
	}
	return status
}

func status(past string) string {
	switch past {
	case "timed out":
		return "timed_out"
	case "was lost":
		return "lost"
	}
	return past
}
