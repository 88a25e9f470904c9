package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Bounds of a condition.
const (
	MaxText = 1 << 10 // bytes
	maxCost = 10_000  // as CEL counts it; a comparison of two numbers costs about 5
)

// The variables of an expression.
const (
	varParams  = "params"
	varResults = "results"
	varStatus  = "status"
)

// Condition is an expression that has been read and checked. Safe for concurrent use.
type Condition struct {
	text    string
	program cel.Program
	results []string
	status  []string
	words   []Word
	params  bool // it looks at params
}

// Values are what an expression sees. The values in Results are JSON; one that is empty is null.
type Values struct {
	Params  json.RawMessage
	Results map[string]json.RawMessage
	Status  map[string]string
}

var environment = func() *cel.Env {
	env, err := cel.NewEnv(
		cel.ClearMacros(),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.Variable(varParams, cel.DynType),
		cel.Variable(varResults, cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable(varStatus, cel.MapType(cel.StringType, cel.StringType)),
	)
	if err != nil {
		panic(err) // all of it is written above
	}
	return env
}()

// Parse reads an expression. The error reads on after the name of a field.
func Parse(text string) (*Condition, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errors.New("is empty; write an expression, such as results.check.rows > 0")
	case len(text) > MaxText:
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), MaxText)
	}
	ast, issues := environment.Compile(text)
	if issues.Err() != nil {
		return nil, explain(text, issues.Errors()[0])
	}
	if out := ast.OutputType(); !out.IsEquivalentType(cel.BoolType) && !out.IsEquivalentType(cel.DynType) {
		return nil, fmt.Errorf("%s is no condition, but of type %s; compare it with something", quote(text), out)
	}
	c := &Condition{text: text}
	if err := c.findSteps(ast); err != nil {
		return nil, fmt.Errorf("%s %w", quote(text), err)
	}
	c.findWords(ast)
	program, err := environment.Program(ast, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", quote(text), err)
	}
	c.program = program
	return c, nil
}

// Results returns the names of the steps whose results the expression looks at, sorted.
func (c *Condition) Results() []string { return c.results }

// ReadsParams reports whether the expression looks at params.
func (c *Condition) ReadsParams() bool { return c.params }

// Steps returns the names of the steps at whose results or status the expression looks, sorted.
func (c *Condition) Steps() []string {
	all := slices.Concat(c.results, c.status)
	slices.Sort(all)
	return slices.Compact(all)
}

// Words returns the texts that the expression compares with the status of a step, in its order. Whether they are
// the names of any is not checked.
func (c *Condition) Words() []Word { return c.words }

// Holds evaluates the expression. The error, which names no values, says why it cannot be computed.
func (c *Condition) Holds(v Values) (bool, error) {
	params, err := decode(v.Params)
	if err != nil {
		return false, fmt.Errorf("read params: %w", err)
	}
	results := make(map[string]any, len(c.results))
	for _, step := range c.results {
		data, known := v.Results[step]
		if !known {
			continue
		}
		if results[step], err = decode(data); err != nil {
			return false, fmt.Errorf("read results.%s: %w", step, err)
		}
	}
	out, _, err := c.program.Eval(map[string]any{varParams: params, varResults: results, varStatus: v.Status})
	if err != nil {
		return false, errors.New(c.told(err.Error()))
	}
	holds, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("it is of type %s, neither true nor false", out.Type().TypeName())
	}
	return bool(holds), nil
}

// told returns an error of an evaluation without the values that it has. What is in the expression itself
// may be said.
func (c *Condition) told(text string) string {
	if strings.HasPrefix(text, "no such overload") {
		return "it has values that cannot be compared or combined"
	}
	end := strings.IndexAny(text, ":'\"`")
	if end < 0 || strings.Contains(c.text, strings.Trim(text[end:], ": '\"`")) {
		return text
	}
	return strings.TrimSpace(text[:end])
}

// decode returns a JSON value. Numbers are int64 if they fit, so that ids of 64 bits are compared whole.
func decode(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil //nolint:nilnil // null is the value
	}
	var v any
	if err := exact.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return numbers(v)
}

func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = numbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// maxQuoted is how many bytes of an expression an error repeats.
const maxQuoted = 80

func quote(text string) string { return fmt.Sprintf("%q", clip.Text(text, maxQuoted)) }
