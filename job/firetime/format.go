package firetime

import (
	"strconv"
	"strings"
	"time"
)

// parts are what a format may have, as java.text and DolphinScheduler spell it.
var parts = map[string]string{
	"yyyy": "2006", "yy": "06", "MM": "01", "M": "1", "dd": "02", "d": "2", "HH": "15", "mm": "04", "ss": "05", "SSS": ".000", "XXX": "Z07:00",
}

// format formats an instant. known is false for what is no format. A format has runs of the
// letters of parts, text in single quotes, and any other characters but letters of ASCII. epoch and
// epoch_ms are seconds and milliseconds since 1970.
func format(at time.Time, format string) (text string, known bool) {
	switch format {
	case "epoch":
		return strconv.FormatInt(at.Unix(), 10), true
	case "epoch_ms":
		return strconv.FormatInt(at.UnixMilli(), 10), true
	}
	var b strings.Builder
	for rest := format; rest != ""; {
		c := rest[0]
		switch {
		case c == '\'':
			quoted, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return "", false
			}
			b.WriteString(quoted)
			rest = after
			known = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			part := rest[:len(rest)-len(strings.TrimLeft(rest, string(c)))]
			layout, ok := parts[part]
			if !ok {
				return "", false
			}
			b.WriteString(strings.TrimPrefix(at.Format(layout), "."))
			rest = rest[len(part):]
			known = true
		default:
			b.WriteByte(c)
			rest = rest[1:]
		}
	}
	return b.String(), known
}
