package bus

import "strings"

// levelWords are the words by which programs say how grave a line is, in upper case.
var levelWords = map[string]Level{
	"TRACE": LevelDebug, "DEBUG": LevelDebug, "DBG": LevelDebug, "INFO": LevelInfo, "INF": LevelInfo, "NOTICE": LevelInfo,
	"WARN": LevelWarn, "WARNING": LevelWarn, "WRN": LevelWarn,
	"ERROR": LevelError, "ERR": LevelError, "FATAL": LevelError, "CRITICAL": LevelError, "CRIT": LevelError, "PANIC": LevelError,
	"SEVERE": LevelError, "ALERT": LevelError, "EMERG": LevelError,
}

// numbers are the levels of pino and bunyan, by their first digit.
var numbers = map[byte]Level{'1': LevelDebug, '2': LevelDebug, '3': LevelInfo, '4': LevelWarn, '5': LevelError, '6': LevelError}

const (
	maxLevelWord = 8   // of levelWords, in bytes
	levelWithin  = 200 // where the level of a line is looked for, in bytes
)

// toldLevel returns the level that a line of a program's output says it has, where that is
// plain: as a field of a JSON object or of logfmt, or as a word at its beginning, after nothing
// but times, numbers and what stands in brackets. ok is false if it says nothing.
func toldLevel(text string) (level Level, ok bool) {
	text = text[:min(len(text), levelWithin)]
	text = strings.TrimLeft(withoutColour(text), " \t")
	if strings.HasPrefix(text, "{") {
		return jsonLevel(text)
	}
	for _, key := range []string{"level=", "lvl=", "severity="} {
		if i := strings.Index(text, key); i == 0 || i > 0 && text[i-1] == ' ' && strings.Contains(text[:i], "=") {
			word, _ := leadingWord(strings.TrimPrefix(text[i+len(key):], `"`))
			level, ok := levelWords[strings.ToUpper(word)]
			return level, ok
		}
	}
	return leadingLevel(text)
}

// jsonLevel finds the level of a line that is a JSON object.
func jsonLevel(text string) (Level, bool) {
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
		level, ok := levelWords[strings.ToUpper(word)]
		return level, ok
	}
	return "", false
}

// leadingLevel finds the level at the beginning of a line. A word that is not in capitals
// counts in brackets, or before a colon.
func leadingLevel(text string) (Level, bool) {
	for text != "" {
		text = strings.TrimLeft(text, " \t|-")
		inside := strings.HasPrefix(text, "[") || strings.HasPrefix(text, "(") || strings.HasPrefix(text, "<")
		word, after := leadingWord(strings.TrimLeft(text, "[(<"))
		if level, ok := levelWords[strings.ToUpper(word)]; ok {
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
	for n < len(text) && n <= maxLevelWord && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
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
