package powerjob

import (
	"regexp"
	"strconv"
	"strings"
)

// translate returns a condition that holds where the script of a decision says true, if the script only compares
// values. base is what the context of the workflow is here: params, or the result of a step.
func translate(script, base string) (condition string, ok bool) {
	script = strings.TrimSpace(comment.ReplaceAllString(script, ""))
	script = strings.TrimSpace(strings.TrimSuffix(script, ";"))
	if rest, returns := strings.CutPrefix(script, "return "); returns {
		script = rest
	}
	tokens, ok := split(script)
	if !ok {
		return "", false
	}
	p := &parser{tokens: tokens, base: base, ok: true}
	condition = p.or(0)
	return condition, p.ok && len(p.tokens) == 0
}

var (
	comment = regexp.MustCompile(`(?m)^\s*//.*$`)
	token   = regexp.MustCompile(`^\s*("(?:[^"\\$]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|\d+(?:\.\d+)?|==|!=|>=|<=|&&|\|\||[-><!().\[\]])`)
)

// split returns the tokens of a script, or false if it has others than comparisons have.
func split(script string) (tokens []string, ok bool) {
	for strings.TrimSpace(script) != "" {
		m := token.FindStringSubmatch(script)
		if m == nil {
			return nil, false
		}
		tokens, script = append(tokens, m[1]), script[len(m[0]):]
	}
	return tokens, len(tokens) > 0
}

// parser goes through the tokens of a script. It is not ok once it has met something that it does not know.
type parser struct {
	tokens []string
	base   string
	ok     bool
}

// maxParens is how deep conditions may be within each other.
const maxParens = 20

// accept passes over tokens if they come next.
func (p *parser) accept(texts ...string) bool {
	if len(p.tokens) < len(texts) {
		return false
	}
	for i, text := range texts {
		if p.tokens[i] != text {
			return false
		}
	}
	p.tokens = p.tokens[len(texts):]
	return true
}

// next passes over one token and returns it; "" at the end.
func (p *parser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

// or reads conditions of which one has to hold.
func (p *parser) or(depth int) string {
	each := []string{p.and(depth)}
	for p.ok && p.accept("||") {
		each = append(each, p.and(depth))
	}
	return strings.Join(each, " || ")
}

// and reads conditions all of which have to hold.
func (p *parser) and(depth int) string {
	each := []string{p.one(depth)}
	for p.ok && p.accept("&&") {
		each = append(each, p.one(depth))
	}
	return strings.Join(each, " && ")
}

// one reads a comparison, or conditions in parentheses.
func (p *parser) one(depth int) string {
	switch {
	case depth > maxParens:
		p.ok = false
		return ""
	case p.accept("!"):
		return not(p.one(depth + 1))
	case p.accept("("):
		text := p.or(depth + 1)
		p.ok = p.ok && p.accept(")")
		return "(" + text + ")"
	}
	left, kind := p.operand()
	if p.ok && p.accept(".", "equals", "(") {
		right, _ := p.operand()
		p.ok = p.ok && p.accept(")")
		return left + " == " + right
	}
	if len(p.tokens) > 0 {
		switch op := p.tokens[0]; op {
		case "==", "!=", ">", "<", ">=", "<=":
			p.next()
			right, _ := p.operand()
			return left + " " + op + " " + right
		}
	}
	switch kind {
	case aNumber:
		return left + " > 0" // as PowerJob takes a number
	case aTruth:
		return left
	case aText, ofContext:
		p.ok = false
	}
	return ""
}

// not returns the opposite of a condition.
func not(condition string) string {
	if strings.HasPrefix(condition, "(") { // only what stands in parentheses as a whole begins with one
		return "!" + condition
	}
	return "!(" + condition + ")"
}

// The kinds of operand.
type kind int

const (
	aText kind = iota
	aNumber
	aTruth
	ofContext
)

// parsers are what makes a number of a text, and what that is in a condition.
var parsers = map[string]string{"Integer": "int", "Long": "int", "Double": "double", "Float": "double"}

// operand reads a value: a literal, an entry of the context, or a number made of one.
func (p *parser) operand() (text string, k kind) {
	switch t := p.next(); {
	case t == "true" || t == "false":
		return t, aTruth
	case t == "-":
		text, k = p.operand()
		p.ok = p.ok && k == aNumber
		return "-" + text, aNumber
	case t != "" && t[0] >= '0' && t[0] <= '9':
		return t, aNumber
	case strings.HasPrefix(t, `"`) || strings.HasPrefix(t, "'"):
		return p.quote(t), aText
	case t == "context" || t == "wfContext":
		return p.entry()
	case parsers[t] != "" && p.accept("."):
		switch p.next() {
		case "parseInt", "parseLong", "parseDouble", "parseFloat", "valueOf":
		default:
			p.ok = false
		}
		p.ok = p.ok && p.accept("(")
		text, _ = p.operand()
		p.ok = p.ok && p.accept(")")
		return parsers[t] + "(" + text + ")", aNumber
	}
	p.ok = false
	return "", aText
}

// entry reads which entry of the context is meant.
func (p *parser) entry() (text string, k kind) {
	key := ""
	switch {
	case p.accept(".", "get", "("):
		key = p.next()
		p.ok = p.ok && p.accept(")")
	case p.accept("["):
		key = p.next()
		p.ok = p.ok && p.accept("]")
	case p.accept("."):
		key = strconv.Quote(p.next())
	}
	if !strings.HasPrefix(key, `"`) && !strings.HasPrefix(key, "'") || len(p.tokens) > 0 && p.tokens[0] == "(" {
		p.ok = false
		return "", ofContext
	}
	text, err := strconv.Unquote(p.quote(key))
	p.ok = p.ok && err == nil
	text = field(p.base, text)
	for number, to := range map[string]string{"toInteger": "int", "toLong": "int", "toDouble": "double"} {
		if p.accept(".", number, "(", ")") {
			return to + "(" + text + ")", aNumber
		}
	}
	return text, ofContext
}

// quote returns a text of a script as one of a condition. Escapes other than those of quotes and backslashes are not known.
func (p *parser) quote(t string) string {
	inner := t[1 : len(t)-1]
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' {
			if i++; inner[i] != '\\' && inner[i] != '"' && inner[i] != '\'' {
				p.ok = false
			}
		}
		b.WriteByte(inner[i])
	}
	return strconv.Quote(b.String())
}

var plainField = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// field returns an entry of a value in a condition.
func field(base, key string) string {
	switch key {
	case "in", "true", "false", "null":
	default:
		if plainField.MatchString(key) {
			return base + "." + key
		}
	}
	return base + "[" + strconv.Quote(key) + "]"
}
