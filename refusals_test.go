package carillon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/reason"
	_ "github.com/carillon-scheduler/carillon/job/reason/refusal" // a part of the table
)

// refusing are the files that say what is wrong with messages, which are dead letters then, and with what
// requests have in any field.
var refusing = []string{
	"bus/*.go", "journal/*.go", "job/runlog/*.go", "job/name.go", "job/run.go", "job/mark.go",
	"logstore/update.go", "logstore/owner.go", "webapi/contract/*.go", "webapi/nodes/*.go",
}

// TestEachRefusalHasACode finds what these files write as the reason of an InvalidError in the table of
// reasons, by which the console says it in Chinese.
func TestEachRefusalHasACode(t *testing.T) {
	found := 0
	for _, pattern := range refusing {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			positions := token.NewFileSet()
			f, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for text, at := range refusals(f) {
				found++
				if reason.Read(filled(text)).Code == "" {
					t.Errorf("%s: %q has no code; say it as a sentence of package job/reason/refusal does, or add one", positions.Position(at), text)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("%d refusals are found; they are written in a form that is not looked for", found)
	}
}

// refusals returns the texts in a file that are reasons of an InvalidError, with their places.
func refusals(f *ast.File) map[string]token.Pos {
	texts := map[string]token.Pos{}
	add := func(e ast.Expr) {
		if call, ok := e.(*ast.CallExpr); ok && name(call.Fun) == "fmt.Sprintf" {
			e = call.Args[0]
		}
		after := ""
		if sum, ok := e.(*ast.BinaryExpr); ok {
			e, after = sum.X, "%s"
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Value != `"%s"` {
			text, _ := strconv.Unquote(lit.Value)
			texts[text+after] = lit.Pos()
		}
	}
	ast.Inspect(f, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.CompositeLit:
			for _, e := range x.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && strings.HasSuffix(name(x.Type), "InvalidError") && name(kv.Key) == "Reason" {
					add(kv.Value)
				}
			}
		case *ast.CallExpr:
			if strings.HasSuffix(name(x.Fun), "Invalid") && len(x.Args) > 1 {
				add(x.Args[1])
			}
		case *ast.FuncDecl:
			if !strings.HasPrefix(x.Name.Name, "reasonOf") {
				break
			}
			ast.Inspect(x, func(node ast.Node) bool {
				if r, ok := node.(*ast.ReturnStmt); ok {
					add(r.Results[0])
				}
				return true
			})
		}
		return true
	})
	return texts
}

func name(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return name(x.X) + "." + x.Sel.Name
	}
	return ""
}

var verb = regexp.MustCompile(`%(?:\.\d+)?[a-z]`)

// filled returns a format with values in it.
func filled(format string) string {
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		if strings.HasSuffix(v, "q") {
			return `"x"`
		}
		return "7"
	})
}
