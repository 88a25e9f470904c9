package condition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// findSteps collects the steps that the expression names, and whether it looks at params. Each use of results and of status must name one, so
// that it is known when the document is saved whether that step comes before.
func (c *Condition) findSteps(checked *cel.Ast) error {
	root := checked.NativeRep().Expr()
	named, uses := 0, 0
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if isOfSteps(e) {
			uses++
		}
		c.params = c.params || e.Kind() == ast.IdentKind && e.AsIdent() == varParams
		if of, step, ok := names(e); ok {
			named++
			if of == varResults {
				c.results = append(c.results, step)
			} else {
				c.status = append(c.status, step)
			}
		}
	}))
	if uses != named {
		return errors.New("must name a step after results or status, such as results.check")
	}
	slices.Sort(c.results)
	slices.Sort(c.status)
	c.results, c.status = slices.Compact(c.results), slices.Compact(c.status)
	return nil
}

// isOfSteps reports whether e is the variable results or status.
func isOfSteps(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && (e.AsIdent() == varResults || e.AsIdent() == varStatus)
}

// names returns the variable and the step if e is results.step, results["step"], or one of these with ?.
func names(e ast.Expr) (of, step string, ok bool) {
	switch e.Kind() { //nolint:exhaustive // no other kind names a step
	case ast.SelectKind:
		s := e.AsSelect()
		if isOfSteps(s.Operand()) {
			return s.Operand().AsIdent(), s.FieldName(), true
		}
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
		default:
			return "", "", false
		}
		args := call.Args()
		if len(args) == 2 && isOfSteps(args[0]) && args[1].Kind() == ast.LiteralKind {
			name, isText := args[1].AsLiteral().(types.String)
			return args[0].AsIdent(), string(name), isText
		}
	}
	return "", "", false
}

// reserved finds words that CEL reads as its own, also where a field is to be named.
var reserved = regexp.MustCompile(`\.(in|true|false|null)\b`)

// explain says what is wrong with an expression, and at which of its characters.
func explain(text string, e *common.Error) error {
	column := e.Location.Column() + 1
	why := strings.TrimPrefix(e.Message, "Syntax error: ")
	switch {
	case why == e.Message:
	case strings.Contains(why, "'<EOF>'"):
		return fmt.Errorf("%s ends too early, at column %d", quote(text), column)
	case reserved.MatchString(text):
		word := reserved.FindStringSubmatch(text)[1]
		return fmt.Errorf("%s cannot be read from column %d on; write [%q] instead of .%s", quote(text), column, word, word)
	default:
		return fmt.Errorf("%s cannot be read from column %d on", quote(text), column)
	}
	if name, ok := strings.CutPrefix(why, "undeclared reference to '"); ok {
		name, _, _ = strings.Cut(name, "'")
		return fmt.Errorf("%s names %s at column %d, which is not known; there are params, results and status", quote(text), name, column)
	}
	return fmt.Errorf("%s: %s, at column %d", quote(text), why, column)
}
