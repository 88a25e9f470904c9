package main

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon/job"
)

// table is text in columns. A row of a single cell stands for itself, across them.
type table struct {
	rows [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// line adds a line across the columns.
func (t *table) line(text string) { t.row(text) }

// write pads the columns. Those between two lines across are one table.
func (t *table) write(w io.Writer) error {
	var b strings.Builder
	for len(t.rows) > 0 {
		n := 1
		if len(t.rows[0]) > 1 {
			for n < len(t.rows) && len(t.rows[n]) > 1 {
				n++
			}
		}
		writeBlock(&b, t.rows[:n])
		t.rows = t.rows[n:]
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeBlock(b *strings.Builder, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// cell makes foreign text fit for a table: one line, nothing that a terminal would
// obey, and no longer than most.
func cell(s string, most int) string {
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
	return orDash(s)
}

// noteWidth bounds texts in the last column.
const noteWidth = 60

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// instant writes a time in UTC, to the second.
func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// took writes how long something lasted, with three digits or so.
func took(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return "-"
	}
	d := to.Sub(from)
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return job.Duration(d).String()
}
