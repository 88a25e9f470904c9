package nodes

import (
	"errors"
	"net/url"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Schemas come from editors of jobs and from executors, and judging by one cannot be stopped. So it is known
// before how long that takes at most.

const (
	// maxJudgements bounds the parts of schemas times the values in the parameters: each part judges each value
	// once at most.
	maxJudgements = 500_000
	// maxMatching bounds the matching of patterns: the instructions of each times the bytes that it is matched with.
	maxMatching = 50_000_000
)

// schemaParts counts the parts of a schema.
type schemaParts struct {
	root  any
	count map[string]int // of what a $ref leads to; -1 while that is being counted
}

// countParts returns how many objects and elements of lists a schema has, those that a $ref leads to once for each
// place that refers to them. The error is an *InvalidError for params_schema.
func countParts(schema any) (int, error) {
	p := schemaParts{root: schema, count: map[string]int{}}
	return p.in(schema)
}

// in counts the parts of a value of the schema.
func (p *schemaParts) in(value any) (n int, err error) {
	add := func(m int, wrong error) {
		n = min(n+m, maxJudgements+1)
		if err == nil {
			err = wrong
		}
	}
	switch v := value.(type) {
	case []any:
		for _, part := range v {
			add(1, nil)
			add(p.in(part))
		}
	case map[string]any:
		add(1, nil)
		for key, part := range v {
			if text, isText := part.(string); isText {
				add(p.keyword(v, key, text))
			} else {
				add(p.in(part))
			}
		}
	}
	return n, err
}

// keyword counts what a keyword with a text adds.
func (p *schemaParts) keyword(of map[string]any, key, text string) (int, error) {
	switch key {
	case "$ref":
		return p.at(text)
	case "$dynamicRef", "$recursiveRef":
		return 0, job.Invalid("params_schema", "must not have %s: use $ref", key)
	case "$id", "id":
		root, _ := p.root.(map[string]any)
		draft, _ := root["$schema"].(string)
		isRoot := reflect.ValueOf(of).Pointer() == reflect.ValueOf(root).Pointer()
		if !isRoot && (key == "$id" || strings.Contains(draft, "draft-04")) {
			return 0, job.Invalid("params_schema", "must not have %s %q below its root", key, clip.Text(text, 40))
		}
	}
	return 0, nil
}

// at counts the parts of what a $ref leads to.
func (p *schemaParts) at(ref string) (int, error) {
	pointer, isHere := strings.CutPrefix(ref, "#/")
	if !isHere {
		return 0, job.Invalid("params_schema", "has $ref %q, which must begin with #/ and lead to another part of the schema", clip.Text(ref, 40))
	}
	switch n, known := p.count[ref]; {
	case n < 0:
		return 0, job.Invalid("params_schema", "must not lead back to itself, as $ref %q does", clip.Text(ref, 40))
	case known:
		return n, nil
	}
	p.count[ref] = -1
	value := p.root
	for part := range strings.SplitSeq(pointer, "/") {
		if unescaped, err := url.PathUnescape(part); err == nil {
			part = unescaped
		}
		object, _ := value.(map[string]any)
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	if _, isObject := value.(map[string]any); !isObject {
		return 0, job.Invalid("params_schema", "has $ref %q, which leads to no object", clip.Text(ref, 40))
	}
	n, err := p.in(value)
	p.count[ref] = n
	return n, err
}

// countValues returns how many values parameters have, themselves included.
func countValues(value any) int {
	n := 1
	switch v := value.(type) {
	case []any:
		for _, part := range v {
			n += countValues(part)
		}
	case map[string]any:
		for _, part := range v {
			n += countValues(part)
		}
	}
	return n
}

// effort is what may still be spent on one request.
type effort struct{ judgements, matching int }

func newEffort() *effort { return &effort{judgements: maxJudgements, matching: maxMatching} }

// pattern is a regular expression of a schema.
type pattern struct {
	*regexp.Regexp
	size int // instructions
	of   *effort
}

// errPatternTooLarge is why a schema cannot be used.
var errPatternTooLarge = errors.New("its patterns are too large")

// compile implements [jsonschema.RegexpEngine]. An instruction is made in the time in which it is matched with
// 1,000 bytes, about.
func (e *effort) compile(text string) (jsonschema.Regexp, error) {
	if e.matching < 0 {
		return nil, errPatternTooLarge
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	size := len(program.Inst)
	if e.matching -= 1000 * size; e.matching < 0 {
		return nil, errPatternTooLarge
	}
	re, err := regexp.Compile(text)
	return &pattern{Regexp: re, size: size, of: e}, err
}

// MatchString reports whether a text matches, or would take too long to be matched: then nothing is left.
func (p *pattern) MatchString(s string) bool {
	p.of.matching -= p.size * (len(s) + 1)
	return p.of.matching < 0 || p.Regexp.MatchString(s)
}
