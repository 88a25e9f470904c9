package ask

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// readStatement returns a statement of people's as it goes to the server, if it is one
// that reads the history and no more. The server's user for SQL is held by its grants
// and limits; this is for what a grant does not cover: functions that read files, tables
// of the system that every user sees, and limits that are set within a statement, where
// the server does not hold them to what its profile allows. It also tells in fewer words
// than the server what else is refused. The error is job.ErrInvalid.
func readStatement(statement string) (string, error) {
	all, err := tokens(statement)
	if err != nil {
		return "", err
	}
	end := slices.IndexFunc(all, func(t token) bool { return t.is(";") })
	if end >= 0 {
		if slices.ContainsFunc(all[end:], func(t token) bool { return !t.is(";") }) {
			return "", refuse("must be one statement; there is more after a semicolon")
		}
		statement, all = statement[:all[end].at], all[:end]
	}
	first := slices.IndexFunc(all, func(t token) bool { return !t.is("(") })
	if first < 0 || all[first].kind != word || !slices.Contains(readers, all[first].text) {
		return "", refuse("must be a SELECT; nothing else is taken")
	}
	if all[first].text == "show" {
		if err := checkShow(all[first+1:]); err != nil {
			return "", err
		}
	}
	depth := 0
	for i, t := range all {
		rest := all[i+1:]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case !t.names():
		case t.ofSystem() && next(rest).is("."):
			return "", refuse("asks for what people may not read: tables of the system")
		case readsMachine[t.text], next(rest).is("(") && reachesOut.MatchString(t.text):
			return "", refuse("uses " + t.text + ", which reads more than the history")
		case t.kind == word && t.text == "into" && next(rest).text == "outfile":
			return "", refuse("has INTO OUTFILE; the format of the answer is asked for beside the query")
		case t.kind == word && t.text == "settings" && next(rest).names() && len(rest) > 1 && (rest[1].is("=") || rest[1].is(".")):
			if depth > 0 {
				return "", refuse("has SETTINGS within parentheses; they may stand at its end only")
			}
			return statement, checkSettings(statement[rest[0].at:all[len(all)-1].to])
		}
	}
	return statement, nil
}

// readers are the words that a statement may begin with.
var readers = []string{"select", "with", "from", "explain", "describe", "desc", "show"}

// checkShow allows SHOW for what can be read, but not for what the server is and does.
func checkShow(rest []token) error {
	if !slices.Contains([]string{"tables", "columns", "fields", "create"}, next(rest).text) || slices.ContainsFunc(rest, token.ofSystem) {
		return refuse("must be a SELECT; SHOW is taken for TABLES, COLUMNS and CREATE of the history")
	}
	return nil
}

// readsMachine are functions that a user needs no grant for, wherever their name stands: it
// may be handed to another function.
var readsMachine = map[string]bool{"file": true, "catboostevaluate": true, "showcertificate": true, "logtrace": true}

// reachesOut are the functions that stand for tables elsewhere, or for a statement within a
// text.
var reachesOut = regexp.MustCompile(`^((url|file|s3|hdfs|azureblobstorage|(iceberg|deltalake|paimon)(s3|azure|hdfs|local)?|hudi)(cluster)?` +
	`|gcs|oss|cosn|remote|remotesecure|cluster|clusterallreplicas|mysql|postgresql|mongodb|redis|sqlite|odbc|jdbc|arrowflight|ytsaurus` +
	`|executable|dictionary|filesystem|eval|input|ai(classify|generate|embed|extract|translate))$`)

// taken are the settings that a query may give: limits, which the server lets it lower
// only, and those that change what it means or how it is done.
var taken = []string{
	"max_execution_time", "max_memory_usage", "max_rows_to_read", "max_bytes_to_read", "max_result_rows", "max_result_bytes", "max_threads",
	"final", "join_use_nulls", "group_by_use_nulls", "transform_null_in", "union_default_mode", "session_timezone", "join_algorithm",
	"use_skip_indexes", "optimize_use_projections", "max_bytes_before_external_group_by", "max_bytes_before_external_sort",
}

var (
	setting  = regexp.MustCompile("^\\s*[\"`]?([a-zA-Z0-9_.]+)[\"`]?\\s*=\\s*('[^'\\\\]*'|[-+]?[0-9][0-9a-zA-Z_.+-]*|true|false)\\s*")
	formatAs = regexp.MustCompile(`(?is)^(format\s+[a-z0-9_]+\s*)?$`)
)

// checkSettings looks at what follows upon SETTINGS.
func checkSettings(rest string) error {
	for {
		found := setting.FindStringSubmatch(rest)
		if found == nil {
			return refuse("has SETTINGS that are not NAME = VALUE, with commas in between")
		}
		if !slices.Contains(taken, found[1]) {
			return refuse(fmt.Sprintf("sets %s; a query may set %s", found[1], strings.Join(taken, ", ")))
		}
		rest = rest[len(found[0]):]
		if !strings.HasPrefix(rest, ",") {
			break
		}
		rest = rest[1:]
	}
	if !formatAs.MatchString(rest) {
		return refuse("has SETTINGS before its end; they may stand there only")
	}
	return nil
}

// token is a piece of a statement as ClickHouse takes it apart.
type token struct {
	kind tokenKind
	at   int    // where it begins
	to   int    // and ends
	text string // of a name in lower case, without its quotes
}

type tokenKind uint8

const (
	mark   tokenKind = iota // one sign
	word                    // a name or a number
	quoted                  // a name in quotes
	text                    // a text in quotes
)

func (t token) is(sign string) bool { return t.kind == mark && t.text == sign }

func (t token) names() bool { return t.kind == word || t.kind == quoted }

func (t token) ofSystem() bool {
	return t.names() && (t.text == "system" || t.text == "information_schema")
}

// next returns the first of some tokens, or one that is nothing.
func next(all []token) token {
	if len(all) == 0 {
		return token{}
	}
	return all[0]
}

// tokens takes a statement apart, without its comments. It refuses the few things that
// ClickHouse takes and that nobody needs, rather than to read them in another way than
// ClickHouse does.
func tokens(s string) (all []token, err error) {
	for at := 0; at < len(s); {
		rest, c := s[at:], s[at]
		t := token{at: at, kind: mark, text: rest[:1]}
		size := 1
		switch {
		case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			at++
			continue
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			if size = strings.IndexByte(rest, '\n'); size < 0 {
				size = len(rest)
			}
			at += size
			continue
		case strings.HasPrefix(rest, "/*"):
			if size = strings.Index(rest[2:], "*/"); size < 0 {
				return nil, refuse("has a comment that does not end")
			}
			at += size + 4
			continue
		case c == '\'' || c == '"' || c == '`':
			if size = quotedSize(rest); size == 0 {
				return nil, refuse(fmt.Sprintf("has a %c without another one that ends it", c))
			}
			if t.kind = text; c != '\'' {
				if strings.IndexByte(rest[:size], '\\') >= 0 {
					return nil, refuse("has a name with a backslash in it")
				}
				t.kind, t.text = quoted, strings.ToLower(rest[1:size-1])
			}
		case inWord(c):
			for size < len(rest) && (inWord(rest[size]) || rest[size] == '$') {
				size++
			}
			t.kind, t.text = word, strings.ToLower(rest[:size])
		case c < ' ' || c > '~' || c == '$' || c == '#':
			return nil, refuse(fmt.Sprintf("has a %q outside of quotes; texts stand in single quotes, names in double ones", []rune(rest)[0]))
		}
		at += size
		t.to = at
		all = append(all, t)
	}
	return all, nil
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quotedSize returns the length of what stands in quotes at the beginning of s, with them;
// 0 when it does not end. A quote within is doubled, or follows a backslash.
func quotedSize(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if i+1 == len(s) || s[i+1] != s[0] {
				return i + 1
			}
			i++
		}
	}
	return 0
}
