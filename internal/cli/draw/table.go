package draw

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is text in columns. A row of a single cell is a line across them. Its clock writes
// the instants.
type Table struct {
	Clock
	// Rows are those that Row and Line have added.
	Rows [][]string
	// Wide asks for more columns than fit most terminals.
	Wide bool
	// Whole has cells keep all of their text, as a file or a pipe has no width.
	Whole bool
	// Colour has cells that say how something is be in colour.
	Colour bool
}

// Row adds a row, a cell for each column.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// Line adds a line across the columns. An empty one ends them: what comes after it has
// columns of its own.
func (t *Table) Line(text string) { t.Row(text) }

// WriteNames writes the first column below the heading to w, each name once. The error is about a
// table that is no list.
func (t *Table) WriteNames(w io.Writer) error {
	var b strings.Builder
	seen := map[string]bool{}
	for i, row := range t.Rows {
		if i == 0 && len(row) > 1 && row[0] != strings.ToUpper(row[0]) {
			return errors.New("this command has no names to list; use -o json or -o yaml")
		}
		if i > 0 && len(row) > 1 && !seen[row[0]] {
			seen[row[0]] = true
			b.WriteString(row[0] + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Write writes the table to w.
func (t *Table) Write(w io.Writer) error {
	var b strings.Builder
	for rest := t.Rows; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(row []string) bool { return len(row) == 1 && row[0] == "" }) + 1
		if n == 0 {
			n = len(rest)
		}
		t.writeColumns(&b, rest[:n])
		rest = rest[n:]
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) writeColumns(b *strings.Builder, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(row) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if t.Colour && len(row) > 1 {
				of := row[0]
				if i < len(rows[0]) && rows[0][i] == strings.ToUpper(rows[0][i]) {
					of = rows[0][i]
				}
				line.WriteString(coloured(of, cell))
			} else {
				line.WriteString(cell)
			}
			line.WriteString(strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// Cell makes foreign text fit for the table: as Text, but of a table that is whole nothing
// is cut.
func (t *Table) Cell(s string, most int) string {
	if t.Whole {
		most = len(s) + 1
	}
	return Text(s, most)
}

// Text makes foreign text fit for a table: one line, nothing that a terminal would
// obey, and no longer than most.
func Text(s string, most int) string {
	s = strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return ' '
		}
		if unicode.IsControl(c) || c == utf8.RuneError {
			return '·'
		}
		return c
	}, strings.TrimSpace(s))
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return OrDash(s)
}

// NoteWidth bounds texts in the last column.
const NoteWidth = 60

// OrDash returns a text, or a dash for none.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// By says who did something, for the end of a line; it says nothing if nobody is known.
func By(author string) string {
	if author == "" {
		return ""
	}
	return " by " + Text(author, 60)
}
