package carillon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// halls are the types with more than 40 methods or 15 fields that are not divided yet, with what they
// have. None may grow, and one that fits is struck off.
var halls = map[string]size{}

// size is what a type has of its own: methods and, if it is a struct, fields that are not exported.
// Exported fields are those of a document, such as a message or a row, and no state.
type size struct{ methods, fields int }

// A type that a reader can hold in mind has at most 40 methods and 15 fields of state. One with at most
// ten methods is a record, and may have more fields.
func TestTypesAreSmall(t *testing.T) {
	sizes := sizesOfTypes(t)
	if len(sizes) < 1000 {
		t.Errorf("only %d types were found: the test reads past them", len(sizes))
	}
	for name, is := range sizes {
		fits := is.methods <= 40 && (is.fields <= 15 || is.methods <= 10)
		hall, listed := halls[name]
		switch {
		case fits && listed:
			t.Errorf("%s fits now: strike it off halls", name)
		case !fits && (is.methods > max(hall.methods, 40) || is.fields > max(hall.fields, 15)):
			t.Errorf("%s has %d methods and %d fields: divide it", name, is.methods, is.fields)
		case !fits && is != hall:
			t.Errorf("%s has %d methods and %d fields now: correct its figures in halls, or divide it", name, is.methods, is.fields)
		}
	}
	for name := range halls {
		if _, exists := sizes[name]; !exists {
			t.Errorf("there is no type %s: strike it off halls", name)
		}
	}
}

// sizesOfTypes returns the sizes of all types at the top of packages, by folder and name, without tests
// and generated files.
func sizesOfTypes(t *testing.T) map[string]size {
	t.Helper()
	sizes := map[string]size{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (base == "node_modules" || base == "testdata" || len(base) > 1 && base[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, ".gen.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if of := receiver(decl); of != "" {
					is := sizes[dir+"."+of]
					is.methods++
					sizes[dir+"."+of] = is
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					typ, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					is := sizes[dir+"."+typ.Name.Name]
					if st, ok := typ.Type.(*ast.StructType); ok {
						for _, field := range st.Fields.List {
							for _, name := range field.Names {
								if !name.IsExported() {
									is.fields++
								}
							}
						}
					}
					sizes[dir+"."+typ.Name.Name] = is
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// receiver returns the name of the type that a function is a method of, "" if of none.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch of := typ.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.IndexExpr:
		return of.X.(*ast.Ident).Name
	case *ast.IndexListExpr:
		return of.X.(*ast.Ident).Name
	}
	return ""
}
