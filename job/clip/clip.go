// Package clip shortens text that an error, a log or a message quotes.
package clip

import "unicode/utf8"

// Text returns s if it has at most that many bytes. Else it returns the characters that fit into
// them, and "…".
func Text(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// Runes is [Text] with a bound in characters, for those who count so: chats, and readers.
func Runes(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
