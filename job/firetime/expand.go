package firetime

import (
	"errors"
	"strings"
	"time"
)

// Expand returns text with each ${fire_time} replaced; any other ${NAME} stays, and of $${fire_time}
// one $ goes. The error says what is wrong.
func Expand(text string, fire time.Time, zone *time.Location) (string, error) {
	return expand(text, fire, zone, "$")
}

// ExpandFirst is Expand for a text whose other variables are replaced later: it leaves $${ as it
// is.
func ExpandFirst(text string, fire time.Time, zone *time.Location) (string, error) {
	return expand(text, fire, zone, "")
}

// Literal returns text so that Expand gives it back unchanged.
func Literal(text string) string {
	return strings.ReplaceAll(text, "${"+variable, "$${"+variable)
}

// expand takes drop away from the end of what comes before a ${fire_time} that stays.
func expand(text string, fire time.Time, zone *time.Location, drop string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${"+variable)
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(strings.TrimSuffix(before, drop) + "${" + variable)
			text = after
			continue
		}
		rest, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", errors.New("has ${ without }; write $${ for the characters themselves")
		}
		name := variable + rest
		switch {
		case !Names(name):
			b.WriteString(before + "${" + name + "}")
		default:
			value, err := value(name, fire, zone)
			if err != nil {
				return "", err
			}
			b.WriteString(before + value)
		}
		text = tail
	}
}
