package condition

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Word is a text that an expression compares with the status of a step.
type Word struct {
	Text   string
	Column int // of its first character, from 1 on
}

// findWords collects the texts with which the expression compares the status of a step: on either side of == or
// !=, or in the list behind in.
func (c *Condition) findWords(checked *cel.Ast) {
	places := checked.NativeRep().SourceInfo()
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
			return
		}
		left, right := e.AsCall().Args()[0], e.AsCall().Args()[1]
		var texts []ast.Expr
		of := left
		switch e.AsCall().FunctionName() {
		case operators.Equals, operators.NotEquals:
			if texts = []ast.Expr{right}; right.Kind() != ast.LiteralKind {
				texts, of = []ast.Expr{left}, right
			}
		case operators.In:
			if right.Kind() == ast.ListKind {
				texts = right.AsList().Elements()
			}
		}
		without, isStatus := status(of)
		if !isStatus {
			return
		}
		for _, t := range texts {
			if text, ok := literal(t); ok && (text != without || without == "") {
				c.words = append(c.words, Word{text, places.GetStartLocation(t.ID()).Column() + 1})
			}
		}
	}))
}

// status reports whether e is the status of a step, or that with orValue, and the text that stands for none then.
func status(e ast.Expr) (without string, ok bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "orValue" && e.AsCall().IsMemberFunction() && len(e.AsCall().Args()) == 1 {
		without, _ = literal(e.AsCall().Args()[0])
		e = e.AsCall().Target()
	}
	of, _, ok := names(e)
	return without, ok && of == varStatus
}

// literal returns a text that is written in the expression.
func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}
