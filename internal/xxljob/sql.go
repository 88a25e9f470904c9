package xxljob

import (
	"bytes"
	"strings"
)

// tokenKind says what a token is.
type tokenKind int

const (
	wordToken   tokenKind = iota // a keyword, a bare name, a number
	nameToken                    // a name in backticks
	stringToken                  // a text in quotes, without them
	markToken                    // one of ( ) , ; . and the like
)

// token is a piece of a statement.
type token struct {
	kind tokenKind
	text string
	line int
}

// is reports whether t is a keyword, in upper case, or a mark.
func (t token) is(text string) bool {
	return t.kind == markToken && t.text == text || t.kind == wordToken && strings.EqualFold(t.text, text)
}

// scanner cuts MySQL's dialect of SQL into tokens, as far as dumps use it. Comments are
// passed over, the conditional ones too: dumps keep nothing in them that matters here.
type scanner struct {
	data []byte
	at   int
	line int
}

func newScanner(data []byte) *scanner {
	return &scanner{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
}

// statement returns the tokens of the next statement, without its semicolon. After the
// last one it returns none.
func (s *scanner) statement() ([]token, error) {
	var tokens []token
	for {
		s.skip()
		if s.at >= len(s.data) {
			return tokens, nil
		}
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		if !t.is(";") {
			tokens = append(tokens, t)
		} else if len(tokens) > 0 {
			return tokens, nil
		}
	}
}

// skip passes over white space and comments.
func (s *scanner) skip() {
	for s.at < len(s.data) {
		rest := s.data[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f", rest[0]) >= 0:
			s.pass(1)
		case rest[0] == '#', bytes.HasPrefix(rest, []byte("--")) && (len(rest) == 2 || rest[2] <= ' '):
			s.passTo(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			s.passTo(rest, "*/")
		default:
			return
		}
	}
}

// passTo passes over rest up to and including what ends it.
func (s *scanner) passTo(rest []byte, end string) {
	if i := bytes.Index(rest, []byte(end)); i >= 0 {
		s.pass(i + len(end))
	} else {
		s.pass(len(rest))
	}
}

// pass moves on by n bytes, and counts their lines.
func (s *scanner) pass(n int) {
	s.line += bytes.Count(s.data[s.at:s.at+n], []byte("\n"))
	s.at += n
}

// next returns the token that begins here.
func (s *scanner) next() (token, error) {
	line := s.line
	switch c := s.data[s.at]; {
	case c == '\'' || c == '"':
		text, err := s.quoted(c, true)
		return token{stringToken, text, line}, err
	case c == '`':
		text, err := s.quoted(c, false)
		return token{nameToken, text, line}, err
	case isWord(c):
		from := s.at
		for s.at < len(s.data) && isWord(s.data[s.at]) {
			s.at++
		}
		return token{wordToken, string(s.data[from:s.at]), line}, nil
	default:
		s.at++
		return token{markToken, string(c), line}, nil
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c == '-' || c == '+' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// escapes is what follows a backslash in a text, where it does not stand for itself.
var escapes = map[byte]byte{'0': 0, 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'Z': 26}

// quoted returns the text between quotes, one of which begins here. A quote within is
// written twice, or after a backslash where those count.
func (s *scanner) quoted(quote byte, backslashes bool) (string, error) {
	line := s.line
	var text []byte
	for i := s.at + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '\\' && backslashes && i+1 < len(s.data):
			i++
			plain, ok := escapes[s.data[i]]
			if !ok {
				plain = s.data[i]
			}
			text = append(text, plain)
		case c != quote:
			text = append(text, c)
		case i+1 < len(s.data) && s.data[i+1] == quote:
			i++
			text = append(text, quote)
		default:
			s.pass(i + 1 - s.at)
			return string(text), nil
		}
	}
	return "", wrong("line %d: the text that begins with %c here does not end", line, quote)
}
