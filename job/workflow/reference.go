package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Reference is a value that a text of a step names as ${…}:
//
//	${params.region}           a parameter of the run; ${params} is all of them
//	${results.list.files[0]}   a part of what a step has returned; ${results.list} is all of it
//	${results.list.total?}     null if there is no such part
//	${workflow.run_id}         what is known of the run itself, by one of [About]
type Reference struct {
	Root Root
	// Step is the step of a result; Name is one of [About].
	Step, Name string
	// Path leads from the parameters or the result to the value.
	Path []Part
	// Optional takes null for what is not there.
	Optional bool
}

// Root is where a value comes from.
type Root string

// The roots of references.
const (
	Params   Root = "params"
	Results  Root = "results"
	Workflow Root = "workflow"
)

// About lists the names that ${workflow.…} may have.
var About = []string{"run_id", "status"}

// Part is one step of a path: the field of an object, or the place in a list if Field is empty.
type Part struct {
	Field string
	Index int
}

// maxPath bounds the parts of a path.
const maxPath = 32

// String returns the reference as it is written between ${ and }.
func (r Reference) String() string {
	text := string(r.Root)
	if r.Step+r.Name != "" {
		text += "." + r.Step + r.Name
	}
	text += written(r.Path)
	if r.Optional {
		text += "?"
	}
	return text
}

// written returns parts as they stand in a reference.
func written(path []Part) string {
	var b strings.Builder
	for _, p := range path {
		if p.Field != "" {
			b.WriteString("." + p.Field)
		} else {
			b.WriteString("[" + strconv.Itoa(p.Index) + "]")
		}
	}
	return b.String()
}

// rooted reports whether name, between ${ and }, begins with a root. Other names are not references.
func rooted(name string) bool {
	root, _, _ := strings.Cut(strings.TrimSuffix(name, "?"), ".")
	root, _, _ = strings.Cut(root, "[")
	switch Root(root) {
	case Params, Results, Workflow:
		return true
	}
	return false
}

// ParseReference reads a text that is one reference, such as ${results.list.files}.
func ParseReference(text string) (Reference, error) {
	name, begins := strings.CutPrefix(text, "${")
	name, ends := strings.CutSuffix(name, "}")
	if !begins || !ends || !rooted(name) {
		return Reference{}, fmt.Errorf("%q must be one reference, such as ${results.list} or ${params.list}", clip.Text(text, MaxName))
	}
	return parseReference(name)
}

// parseReference reads what stands between ${ and }, which is rooted.
func parseReference(name string) (Reference, error) {
	text, optional := strings.CutSuffix(name, "?")
	root, rest := text, ""
	if k := strings.IndexAny(text, ".["); k >= 0 {
		root, rest = text[:k], text[k:]
	}
	r := Reference{Root: Root(root), Optional: optional}
	path, err := parsePath(rest)
	if err != nil {
		return r, fmt.Errorf("${%s}: %w", clip.Text(name, MaxName), err)
	}
	switch r.Root {
	case Params:
		r.Path = path
	case Results:
		if len(path) == 0 || path[0].Field == "" {
			return r, fmt.Errorf("${%s} must name a step, such as ${results.load}", clip.Text(name, MaxName))
		}
		r.Step, r.Path = path[0].Field, path[1:]
	case Workflow:
		if len(path) != 1 || !slices.Contains(About, path[0].Field) {
			return r, fmt.Errorf("${%s} must be one of ${workflow.%s}", clip.Text(name, MaxName), strings.Join(About, "} and ${workflow."))
		}
		r.Name = path[0].Field
	}
	return r, nil
}

// parsePath reads fields and places, such as .files[0].name.
func parsePath(text string) (path []Part, err error) {
	for text != "" {
		if len(path) == maxPath {
			return nil, fmt.Errorf("has more than %d parts", maxPath)
		}
		if rest, ok := strings.CutPrefix(text, "["); ok {
			digits, after, closed := strings.Cut(rest, "]")
			n, bad := strconv.Atoi(digits)
			if !closed || bad != nil || n < 0 || digits[0] == '+' {
				return nil, fmt.Errorf("[%s must be a place in a list, such as [0]", clip.Text(rest, MaxName))
			}
			path, text = append(path, Part{Index: n}), after
			continue
		}
		field := strings.TrimPrefix(text, ".")
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		field, rest := field[:end], field[end:]
		if field == "" || strings.ContainsAny(field, " \t\n]?|${}\"") {
			return nil, fmt.Errorf("%q must be the name of a field", clip.Text(field, MaxName))
		}
		path, text = append(path, Part{Field: field}), rest
	}
	return path, nil
}
