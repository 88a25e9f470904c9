package trail

import (
	"cmp"
	"strings"
)

// HeaderAssistant is the header of a request in which an assistant that makes a change says its name.
const HeaderAssistant = "Carillon-Assistant"

// maxAssistant bounds the name of an assistant, in bytes.
const maxAssistant = 64

// AssistantName returns the name that an assistant gives itself, as records show it: letters, digits and
// some marks of ASCII, at most 64. If nothing is left, that is "unnamed".
func AssistantName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" ._/+-", r) {
			return r
		}
		return -1
	}, name)
	return cmp.Or(strings.TrimSpace(name[:min(len(name), maxAssistant)]), "unnamed")
}
