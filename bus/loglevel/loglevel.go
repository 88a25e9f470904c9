// Package loglevel reads the level of a log line from its text, where that is plain.
package loglevel

import "strings"

// What lines are graded by. They are the levels of package bus.
const (
	debug   = "debug"
	info    = "info"
	warning = "warn"
	failure = "error"
)

// words are the words by which programs say how grave a line is, in upper case.
var words = map[string]string{
	"TRACE": debug, "DEBUG": debug, "DBG": debug, "INFO": info, "INF": info, "NOTICE": info,
	"WARN": warning, "WARNING": warning, "WRN": warning,
	"ERROR": failure, "ERR": failure, "FATAL": failure, "CRITICAL": failure, "CRIT": failure, "PANIC": failure,
	"SEVERE": failure, "ALERT": failure, "EMERG": failure,
}

// numbers are the levels of pino and bunyan, by their first digit.
var numbers = map[byte]string{'1': debug, '2': debug, '3': info, '4': warning, '5': failure, '6': failure}

const (
	maxWord = 8   // of words, in bytes
	within  = 200 // where the level of a line is looked for, in bytes
)

// Of returns the level that a line of a program's output says it has, where that is
// plain: as a field of a JSON object or of logfmt, or as a word at its beginning, after nothing
// but times, numbers and what stands in brackets. ok is false if it says nothing.
func Of(text string) (level string, ok bool) {
	text = text[:min(len(text), within)]
	text = strings.TrimLeft(withoutColour(text), " \t")
	if strings.HasPrefix(text, "{") {
		return jsonLevel(text)
	}
	for _, key := range []string{"level=", "lvl=", "severity="} {
		if i := strings.Index(text, key); i == 0 || i > 0 && text[i-1] == ' ' && strings.Contains(text[:i], "=") {
			word, _ := leadingWord(strings.TrimPrefix(text[i+len(key):], `"`))
			level, ok := words[strings.ToUpper(word)]
			return level, ok
		}
	}
	return leadingLevel(text)
}

// jsonLevel finds the level of a line that is a JSON object.
func jsonLevel(text string) (string, bool) {
	for _, key := range []string{`"level"`, `"severity"`, `"lvl"`, `"levelname"`, `"log.level"`} {
		_, rest, _ := strings.Cut(text, key)
		value, found := strings.CutPrefix(strings.TrimLeft(rest, " "), ":")
		value = strings.TrimLeft(value, " ")
		if !found || value == "" {
			continue
		}
		if level, ok := numbers[value[0]]; ok && strings.HasPrefix(value[1:], "0") {
			return level, true
		}
		word, _ := leadingWord(strings.TrimPrefix(value, `"`))
		level, ok := words[strings.ToUpper(word)]
		return level, ok
	}
	return "", false
}

// leadingLevel finds the level at the beginning of a line. A word that is not in capitals
// counts in brackets, or before a colon.
func leadingLevel(text string) (string, bool) {
	for text != "" {
		text = strings.TrimLeft(text, " \t|-")
		inside := strings.HasPrefix(text, "[") || strings.HasPrefix(text, "(") || strings.HasPrefix(text, "<")
		word, after := leadingWord(strings.TrimLeft(text, "[(<"))
		if level, ok := words[strings.ToUpper(word)]; ok {
			isEnd := after == "" || strings.IndexByte(" \t:])>,|/", after[0]) >= 0
			isPlain := word == strings.ToUpper(word) || strings.HasPrefix(after, ":") || inside && after != "" && strings.IndexByte("])>", after[0]) >= 0
			if isEnd && isPlain {
				return level, true
			}
			return "", false
		}
		rest, skipped := skipAside(text)
		if !skipped {
			return "", false
		}
		text = rest
	}
	return "", false
}

// skipAside passes over a token that may stand before the level: something in brackets, or
// what has a digit in it.
func skipAside(text string) (rest string, ok bool) {
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "(") {
		_, rest, ok = strings.Cut(text, map[byte]string{'[': "]", '(': ")"}[text[0]])
		return rest, ok
	}
	token, rest, _ := strings.Cut(text, " ")
	return rest, strings.ContainsAny(token, "0123456789")
}

// leadingWord returns the letters that a text begins with, as far as they may be a level, and
// what follows them.
func leadingWord(text string) (word, after string) {
	n := 0
	for n < len(text) && n <= maxWord && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	return text[:n], text[n:]
}

// withoutColour drops the sequences with which programs colour text at a terminal.
func withoutColour(text string) string {
	if strings.IndexByte(text, '\x1b') < 0 {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		text = after[end+1:]
	}
}
