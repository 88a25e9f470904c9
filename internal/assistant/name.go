package assistant

import "strings"

// maxName bounds the name of an assistant, in bytes.
const maxName = 64

// CleanName returns the name that an assistant gives itself, as records show it: of letters, digits and
// some marks in ASCII, at most 64.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" ._/+-", r) {
			return r
		}
		return -1
	}, name)
	return strings.TrimSpace(name[:min(len(name), maxName)])
}
