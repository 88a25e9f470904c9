package main

import (
	"encoding/json"
	"strings"
)

func (t *table) shortJSON(v any) string { return t.cell(plainJSON(v), noteWidth) }

// plainJSON returns a value for a person to read: a shell's > and & stay as they are.
func plainJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
