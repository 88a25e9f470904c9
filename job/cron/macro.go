package cron

import (
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// macros are the names for five fields.
var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// Kind is what a text that begins with @ and is no calendar means.
type Kind uint8

// The kinds that [Macro] tells apart.
const (
	Every Kind = iota + 1 // "@every 90s": a fixed rate; the argument is a duration
	At                    // "@at 2026-01-01T00:00:00+01:00": once; the argument is an instant
)

// String returns the word with which texts of the kind begin.
func (k Kind) String() string {
	switch k {
	case Every:
		return "@every"
	case At:
		return "@at"
	}
	return "none"
}

// Macro finds the texts that stand beside cron expressions but have no calendar
// fields, and returns their kind and argument. It does not look into the argument,
// which may be empty or wrong. For all other text ok is false, and [Parse] has the say.
func Macro(text string) (kind Kind, arg string, ok bool) {
	word, arg := cutWord(text)
	switch word {
	case "@every":
		return Every, arg, true
	case "@at":
		return At, arg, true
	}
	return 0, "", false
}

// expandMacro returns the five fields for which a text that begins with @ stands.
func expandMacro(text string) (string, error) {
	if fields, ok := macros[text]; ok {
		return fields, nil
	}
	if advice := ofFreeBSD(text); advice != "" {
		return "", &ParseError{"macro", clip.Text(text, maxQuoted), "is of FreeBSD; " + advice}
	}
	reason := "is not known; must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly"
	if kind, _, ok := Macro(text); ok {
		reason = "has no calendar fields; " + kind.String() + " is a schedule of its own"
	} else if word, _ := cutWord(text); word == "@reboot" {
		reason = "is not supported: a cluster does not boot; start such work with the machine's init system"
	}
	return "", &ParseError{"macro", clip.Text(text, maxQuoted), reason}
}

// ofFreeBSD returns what to write for a macro that only its cron knows; "" if it is none.
func ofFreeBSD(text string) string {
	switch {
	case text == "@every_minute":
		return "write * * * * *"
	case text == "@every_second":
		return "use fixed_rate: 1s"
	case len(text) > 1 && strings.Trim(text[1:], "0123456789") == "":
		return "it runs " + text[1:] + " seconds after the end of the run before: use fixed_delay: " + text[1:] + "s"
	}
	return ""
}

// cutWord returns the first word of text and what follows it, without the blanks.
func cutWord(text string) (word, rest string) {
	text = strings.Trim(text, blanks)
	if i := strings.IndexAny(text, blanks); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], blanks)
	}
	return text, ""
}
