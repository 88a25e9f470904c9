package logstore

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Terms are what a search's text asks for, in lower case.
type Terms struct {
	Words   []string // each once
	Parts   []Part   // each once
	Phrases []string
}

// Part is a part of a word.
type Part struct {
	Text          string
	Before, After bool // the word may begin before it, and go on after it
}

// ParseTerms reads [SearchFilter.Text], which was validated.
func ParseTerms(text string) Terms {
	var t Terms
	for i, part := range strings.Split(lower(text), `"`) {
		if quoted := i%2 == 1; quoted {
			t.addQuoted(part)
			continue
		}
		t.addBare(part)
	}
	slices.Sort(t.Words)
	t.Words = slices.Compact(t.Words)
	slices.SortFunc(t.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), less(a.Before, b.Before), less(a.After, b.After))
	})
	t.Parts = slices.Compact(t.Parts)
	return t
}

// addQuoted adds a phrase, and its words, but for those that need not be words of the line.
func (t *Terms) addQuoted(phrase string) {
	if phrase == "" {
		return
	}
	t.Phrases = append(t.Phrases, phrase)
	for _, word := range eachWord(phrase) {
		if !strings.ContainsFunc(word, isUnspaced) {
			t.Words = append(t.Words, word)
		}
	}
}

// addBare adds the words of what is not quoted.
func (t *Terms) addBare(text string) {
	for at, word := range eachWord(text) {
		if strings.ContainsFunc(word, isUnspaced) {
			parts := strings.FieldsFunc(word, isPunctuation)
			if len(parts) == 0 { // it is all punctuation
				parts = []string{word}
			}
			for _, p := range parts {
				t.Parts = append(t.Parts, Part{p, true, true})
			}
			continue
		}
		before := at > 0 && text[at-1] == '*'
		end := at + len(word)
		after := end < len(text) && text[end] == '*'
		if before || after {
			t.Parts = append(t.Parts, Part{word, before, after})
		} else {
			t.Words = append(t.Words, word)
		}
	}
}

// unspaced are scripts in which a word stands between others, or what belongs to it, without a
// space.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

func isUnspaced(r rune) bool { return r > unicode.MaxLatin1 && unicode.In(r, unspaced...) }

// isPunctuation is true of what parts words of such scripts, as the full stop of Chinese does.
func isPunctuation(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSpace(r))
}

func less(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Match reports whether a line with this text has all that t asks for.
func (t *Terms) Match(text string) bool {
	if len(t.Words) == 0 && len(t.Parts) == 0 && len(t.Phrases) == 0 {
		return true
	}
	text = lower(text)
	for _, p := range t.Phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	for _, w := range t.Words {
		if (&Part{Text: w}).index(text, false) < 0 {
			return false
		}
	}
	for i := range t.Parts {
		if t.Parts[i].index(text, false) < 0 {
			return false
		}
	}
	return true
}

// MayMatch reports whether a text may have lines that match: whether it has all parts of words
// and phrases somewhere. It takes a fraction of what a look at each line takes.
func (t *Terms) MayMatch(lines []byte) bool {
	if len(t.Parts) == 0 && len(t.Phrases) == 0 {
		return true
	}
	lines = lowered(lines)
	return !slices.ContainsFunc(t.Phrases, func(p string) bool { return !bytes.Contains(lines, []byte(p)) }) &&
		!slices.ContainsFunc(t.Parts, func(p Part) bool { return !bytes.Contains(lines, []byte(p.Text)) })
}

// index returns where the part stands first in text, or -1. inWord says that what is before
// the text is a part of a word.
func (p *Part) index(text string, inWord bool) int {
	for from := 0; ; {
		i := strings.Index(text[from:], p.Text)
		if i < 0 {
			return -1
		}
		begin, end := from+i, from+i+len(p.Text)
		before := inWord
		if begin > 0 {
			before = isWord(text[begin-1])
		}
		if (p.Before || !before) && (p.After || end == len(text) || !isWord(text[end])) {
			return begin
		}
		from = begin + 1
	}
}

// lower changes ASCII letters only, as stores do, and no byte of anything else.
func lower(s string) string { return string(lowered([]byte(s))) }

func lowered(text []byte) []byte {
	b := make([]byte, len(text))
	for i := range text {
		b[i] = lowerByte(text[i])
	}
	return b
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b > math.MaxInt8
}

// eachWord yields the words of a text, and where they begin.
func eachWord(s string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for from := 0; from < len(s); {
			to := from
			for to < len(s) && isWord(s[to]) {
				to++
			}
			if to > from && !yield(from, s[from:to]) {
				return
			}
			from = max(to, from+1)
		}
	}
}

// AddWords adds the words of a text to a set, in lower case, for a store that indexes
// them. Those that are longer than any search may be are left out.
func AddWords(set map[string]struct{}, text string) {
	var word [maxSearchText]byte
	for i := 0; i < len(text); i++ {
		n := 0
		for ; i < len(text) && isWord(text[i]); i++ {
			if n < len(word) {
				word[n] = lowerByte(text[i])
			}
			n++
		}
		if n == 0 || n > len(word) {
			continue
		}
		if _, ok := set[string(word[:n])]; !ok {
			set[string(word[:n])] = struct{}{}
		}
	}
}

// Find returns where a text has what t asks for: ranges in order, which neither overlap nor
// touch.
func (t *Terms) Find(text string) []runlog.Range {
	text = lower(text)
	var found []runlog.Range // in bytes
	for _, p := range t.Phrases {
		for i := 0; ; {
			at := strings.Index(text[i:], p)
			if at < 0 {
				break
			}
			i += at + len(p)
			found = append(found, runlog.Range{From: i - len(p), To: i})
		}
	}
	parts := slices.Clone(t.Parts)
	for _, w := range t.Words {
		parts = append(parts, Part{Text: w})
	}
	for _, p := range parts {
		for i := 0; ; {
			at := p.index(text[i:], i > 0 && isWord(text[i-1]))
			if at < 0 {
				break
			}
			i += at + len(p.Text)
			found = append(found, runlog.Range{From: i - len(p.Text), To: i})
		}
	}
	slices.SortFunc(found, func(a, b runlog.Range) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	var merged []runlog.Range
	for _, r := range found {
		if last := len(merged) - 1; last >= 0 && r.From <= merged[last].To {
			merged[last].To = max(merged[last].To, r.To)
		} else {
			merged = append(merged, r)
		}
	}
	counted, chars := 0, 0
	for i := range merged {
		for _, at := range []*int{&merged[i].From, &merged[i].To} {
			chars += utf8.RuneCountInString(text[counted:*at])
			counted, *at = *at, chars
		}
	}
	return merged
}
