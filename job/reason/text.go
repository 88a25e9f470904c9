package reason

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Joint stands between reasons that belong together.
const Joint = "; "

// Join returns the reasons that are not empty as one text.
func Join(reasons ...string) string {
	var said []string
	for _, r := range reasons {
		if r != "" {
			said = append(said, r)
		}
	}
	return strings.Join(said, Joint)
}

// Said is a reason with its code and parameters.
type Said struct {
	Text   string            `json:"text"`
	Code   string            `json:"code,omitempty"` // "" of text that is not from the table
	Params map[string]string `json:"params,omitempty"`
	And    *Said             `json:"and,omitempty"` // what was joined to it
}

// Text is a reason as text, whose JSON is that of [Said].
type Text string

// MarshalJSON writes the text with its code and parameters.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(Read(string(t))) }

// UnmarshalJSON reads what MarshalJSON writes, or text alone.
func (t *Text) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = Text(text)
		return nil
	}
	var s Said
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("decode reason: %w", err)
	}
	*t = Text(s.Text)
	return nil
}

// Read finds the sentences that a text is made of. What follows sentences of the table and is
// none is without a code; so is a text that begins with none.
func Read(text string) Said { return read(text, false) }

func read(text string, follows bool) Said {
	s, rest := first(text, follows)
	if s.Code != "" && rest != "" {
		and := read(rest, true)
		s.And = &and
	}
	s.Text = text
	return s
}

// first returns the sentence that a text begins with, and what follows it.
func first(text string, follows bool) (s Said, rest string) {
	var best *Sentence
	var groups []int
	for _, row := range candidates(text) {
		if row.Follows && !follows {
			continue
		}
		m := row.read().FindStringSubmatchIndex(text)
		if m != nil && (best == nil || row.literal() > best.literal()) {
			best, groups = row, m
		}
	}
	if best == nil {
		return Said{}, ""
	}
	s.Code = best.Code
	for i, p := range best.Params {
		value := text[groups[2*i+2]:groups[2*i+3]]
		if p.Kind == Status {
			value = status(value)
		}
		if s.Params == nil {
			s.Params = map[string]string{}
		}
		s.Params[p.Name] = value
	}
	return s, text[groups[1]:]
}

// literal returns how many bytes of a sentence are the template's.
func (s *Sentence) literal() int {
	n := 0
	for _, words := range s.pieces {
		n += len(words)
	}
	return n
}

// byBeginning has the table by the first byte of its sentences. Those that begin with a
// parameter are under 0.
var byBeginning = sync.OnceValue(func() map[byte][]*Sentence {
	rows := map[byte][]*Sentence{}
	for _, s := range all {
		var b byte
		if s.pieces[0] != "" {
			b = s.pieces[0][0]
		}
		rows[b] = append(rows[b], s)
	}
	return rows
})

// candidates yields the sentences that a text may begin with.
func candidates(text string) []*Sentence {
	if text == "" {
		return nil
	}
	rows := byBeginning()
	var found []*Sentence
	for _, s := range rows[text[0]] {
		if strings.HasPrefix(text, s.pieces[0]) {
			found = append(found, s)
		}
	}
	for _, s := range rows[0] {
		if strings.Contains(text, s.longest()) {
			found = append(found, s)
		}
	}
	return found
}

// longest returns the longest words of a sentence.
func (s *Sentence) longest() string {
	var longest string
	for _, words := range s.pieces {
		if len(words) > len(longest) {
			longest = words
		}
	}
	return longest
}
