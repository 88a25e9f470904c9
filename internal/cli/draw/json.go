package draw

import (
	"encoding/json"
	"strings"
)

// ShortJSON returns a value as JSON that fits into a cell.
func (t *Table) ShortJSON(v any) string { return t.Cell(PlainJSON(v), NoteWidth) }

// PlainJSON returns a value for a person to read: a shell's > and & stay as they are.
func PlainJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
