package job

import "strings"

// Slug makes a slug of at most that many bytes from text: what no slug may have becomes '-', once for
// each stretch of it. It is empty if nothing of the text can be in a slug.
func Slug(text string, most int) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-_")
	return strings.TrimRight(s[:min(len(s), most)], "-_")
}
