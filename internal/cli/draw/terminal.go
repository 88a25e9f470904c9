package draw

import (
	"bytes"
	"io"
	"os"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// Screen is standard output, or standard error, that somebody looks at. What jobs and
// users have written goes through it with everything else, so it passes on nothing that a
// terminal obeys but colours: no escape sequence moves the cursor, clears the screen, sets
// the title or answers for the keyboard. In the place of each such character is a "·".
// A colour ends with its line. What goes to a file or a pipe does not come by here.
type Screen struct {
	file     io.Writer
	held     []byte // the beginning of a colour, or of a character, that has still to end
	coloured bool   // the line has a colour that has not ended
}

// endColour has a terminal write plain text again.
const endColour = "\x1b[0m"

// maxColour is how long an escape sequence for a colour may be.
const maxColour = 64

// NewScreen returns a screen that writes to file what a terminal may be shown.
func NewScreen(file io.Writer) *Screen { return &Screen{file: file} }

// ForPeople returns w, or if that is a terminal what shields it.
func ForPeople(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return NewScreen(f)
	}
	return w
}

// FileOf returns the file that w writes to, of standard output the terminal itself.
func FileOf(w io.Writer) (*os.File, bool) {
	if t, ok := w.(*Screen); ok {
		w = t.file
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Write implements [io.Writer].
func (t *Screen) Write(p []byte) (int, error) {
	text := slices.Concat(t.held, p)
	t.held = nil
	out := make([]byte, 0, len(text)+len(endColour))
	for len(text) > 0 {
		if text[0] == '\x1b' {
			n, whole := colour(text)
			switch {
			case n > 0:
				out, text = append(out, text[:n]...), text[n:]
				t.coloured = true
			case whole:
				out, text = append(out, "·"...), text[1:]
			default:
				t.held, text = bytes.Clone(text), nil
			}
			continue
		}
		if !utf8.FullRune(text) {
			t.held, text = bytes.Clone(text), nil
			continue
		}
		c, n := utf8.DecodeRune(text)
		switch {
		case c == '\n':
			if t.coloured {
				out = append(out, endColour...)
				t.coloured = false
			}
			out = append(out, '\n')
		case c == '\r' && len(text) > 1 && text[1] == '\n': // a line of Windows
		case c != '\t' && obeyed(c) || c == utf8.RuneError && n == 1:
			out = append(out, "·"...)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	if _, err := t.file.Write(out); err != nil {
		return 0, err //nolint:wrapcheck // a writer's error is its own
	}
	return len(p), nil
}

// colour returns how long the sequence for a colour is with which text begins, 0 if it
// begins with none. whole is false if that cannot be said before more has come.
func colour(text []byte) (n int, whole bool) {
	if len(text) == 1 {
		return 0, false
	}
	if text[1] != '[' {
		return 0, true
	}
	for n = 2; n < len(text) && n < maxColour; n++ {
		switch c := text[n]; {
		case c == 'm':
			return n + 1, true
		case c < '0' || c > ';': // digits, ":" and ";"
			return 0, true
		}
	}
	return 0, n == maxColour
}

// obeyed reports whether a terminal acts on a character in place of showing it: control
// characters, and those that change the direction in which text reads.
func obeyed(c rune) bool {
	return unicode.IsControl(c) || c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}
