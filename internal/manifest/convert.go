package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/carillon-scheduler/carillon/job"
)

// maxDepth bounds the nesting of values. An alias that contains itself reaches it.
const maxDepth = 64

// converter writes the nodes of one document as JSON and notes their lines.
type converter struct {
	file    string
	before  int // lines before the document
	anchors map[string]ast.Node
	lines   map[string]int    // of every field, by path
	texts   map[string]string // top-level fields that are text
	out     bytes.Buffer
	began   []begun // the top-level fields, in order
}

// begun says where a top-level field begins in the output.
type begun struct {
	name string
	at   int
}

func newConverter(file string, before int, root ast.Node) *converter {
	c := &converter{file: file, before: before, anchors: map[string]ast.Node{}, lines: map[string]int{}, texts: map[string]string{}}
	ast.Walk(c, root)
	return c
}

// Visit collects the anchors, and has every node visited.
func (c *converter) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		c.anchors[a.Name.GetToken().Value] = a.Value
	}
	return c
}

// line returns where a node begins. A mapping's own token is the colon of its first
// field, which may be lines below the key.
func (c *converter) line(n ast.Node) int {
	switch v := n.(type) {
	case *ast.MappingNode:
		if len(v.Values) > 0 && !v.IsFlowStyle {
			return c.line(v.Values[0])
		}
	case *ast.MappingValueNode:
		return c.line(v.Key)
	}
	return c.before + n.GetToken().Position.Line
}

func (c *converter) wrong(n ast.Node, path, format string, args ...any) error {
	return &Error{File: c.file, Line: c.line(n), Field: path, Reason: fmt.Sprintf(format, args...)}
}

func (c *converter) isMapping(n ast.Node) bool {
	n, err := c.resolve(n, "")
	if err != nil {
		return false
	}
	_, isMapping := n.(ast.MapNode)
	return isMapping
}

// resolve follows anchors and aliases to the value.
func (c *converter) resolve(n ast.Node, path string) (ast.Node, error) {
	for range maxDepth {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			name := v.Value.GetToken().Value
			target, ok := c.anchors[name]
			if !ok {
				return nil, c.wrong(n, path, "refers to *%s, but there is no &%s", name, name)
			}
			n = target
		default:
			return n, nil
		}
	}
	return nil, c.wrong(n, path, "refers to itself")
}

// write appends a node's value to out.
func (c *converter) write(n ast.Node, path string, depth int) error {
	if depth > maxDepth {
		return c.wrong(n, path, "is nested more than %d deep, or refers to itself", maxDepth)
	}
	if c.out.Len() > 2*job.MaxDocument {
		return c.tooLong(n)
	}
	n, err := c.resolve(n, path)
	if err != nil {
		return err
	}
	if c.writeNumber(n) {
		return nil
	}
	if text, ok := joined(n); ok {
		c.writeText(path, text)
		return nil
	}
	switch v := n.(type) {
	case ast.MapNode:
		return c.writeMapping(n, path, depth)
	case *ast.SequenceNode:
		return c.writeSequence(v, path, depth)
	case *ast.TagNode:
		return c.writeTagged(v, path, depth)
	case *ast.StringNode:
		c.writeText(path, v.Value)
	case *ast.LiteralNode:
		c.writeText(path, v.Value.Value)
	case *ast.NullNode:
		c.out.WriteString("null")
	case *ast.BoolNode:
		c.writeJSON(v.Value)
	case *ast.IntegerNode:
		c.writeJSON(v.Value)
	case *ast.FloatNode:
		c.writeJSON(v.Value)
	default:
		return c.wrong(n, path, "has the value %s, which JSON cannot express", n.GetToken().Value)
	}
	return nil
}

// joined returns the text that the parser takes for a field and its value, as it does in a list within braces: {by: [role:operator]}.
// A field has a space after its colon.
func joined(n ast.Node) (text string, ok bool) {
	pairs, ok := n.(*ast.MappingNode)
	if !ok || pairs.IsFlowStyle || len(pairs.Values) != 1 {
		return "", false
	}
	pair := pairs.Values[0]
	key, value := pair.Key.GetToken(), pair.Value.GetToken()
	if key.Type != token.StringType || value.Position.Offset != pair.Start.Position.Offset+1 {
		return "", false
	}
	if _, scalar := pair.Value.(ast.ScalarNode); !scalar || strings.HasPrefix(value.Origin, `"`) || strings.HasPrefix(value.Origin, "'") {
		return "", false
	}
	return key.Value + ":" + value.Value, true
}

// tooLong returns the error of a document that is too long. It names the top-level field that takes most.
func (c *converter) tooLong(n ast.Node) error {
	longest, most := "", 0
	for i, field := range c.began {
		end := c.out.Len()
		if i+1 < len(c.began) {
			end = c.began[i+1].at
		}
		if end-field.at > most {
			longest, most = field.name, end-field.at
		}
	}
	line := c.lines[longest]
	if line == 0 {
		line = c.line(n)
	}
	return &Error{File: c.file, Line: line, Field: longest, Reason: fmt.Sprintf("makes the document longer than %d bytes", job.MaxDocument)}
}

// number is a number of JSON.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// writeNumber writes a number as it was typed, if JSON has that form: 1.10 stays 1.10. The parser takes
// a number that a float64 or an int64 has no room for as text without quotes.
func (c *converter) writeNumber(n ast.Node) bool {
	switch v := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	case *ast.StringNode:
		if v.GetToken().Type != token.StringType {
			return false // in quotes
		}
	default:
		return false
	}
	text := n.GetToken().Value
	if !number.MatchString(text) {
		return false
	}
	c.out.WriteString(text)
	return true
}

// plainTags say what a value is without them.
var plainTags = []string{
	string(token.MappingTag), string(token.SequenceTag), string(token.BooleanTag),
	string(token.IntegerTag), string(token.FloatTag), string(token.NullTag),
}

// writeTagged writes a value whose tag changes nothing, or makes text of it.
func (c *converter) writeTagged(n *ast.TagNode, path string, depth int) error {
	tag := n.GetToken().Value
	switch {
	case slices.Contains(plainTags, tag):
		return c.write(n.Value, path, depth+1)
	case tag != string(token.StringTag):
		return c.wrong(n, path, "has the tag %s, which is not supported", tag)
	}
	s, ok := n.Value.(ast.ScalarNode)
	if !ok {
		return c.wrong(n, path, "has the tag !!str, but is not text")
	}
	c.writeText(path, s.GetToken().Value)
	return nil
}

func (c *converter) writeText(path, text string) {
	if slices.Contains(kinds, Kind(path)) {
		c.texts[path] = text
	}
	c.writeJSON(text)
}

// writeJSON writes a scalar.
func (c *converter) writeJSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("BUG: encode a YAML scalar: " + err.Error())
	}
	c.out.Write(data)
}

func (c *converter) writeSequence(n *ast.SequenceNode, path string, depth int) error {
	c.out.WriteByte('[')
	for i, v := range n.Values {
		if i > 0 {
			c.out.WriteByte(',')
		}
		p := fmt.Sprintf("%s[%d]", path, i)
		c.lines[p] = c.line(v)
		if err := c.write(v, p, depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	return nil
}

// field is one entry of a mapping.
type field struct {
	key    string
	line   int
	value  ast.Node
	merged bool // it came from a merge key, and yields to one written here
}

func (c *converter) writeMapping(n ast.Node, path string, depth int) error {
	fields, err := c.fieldsOf(n, path, depth)
	if err != nil {
		return err
	}
	c.out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			c.out.WriteByte(',')
		}
		p := join(path, f.key)
		c.lines[p] = f.line
		if path == "" {
			c.began = append(c.began, begun{f.key, c.out.Len()})
		}
		c.writeJSON(f.key)
		c.out.WriteByte(':')
		if err := c.write(f.value, p, depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// fieldsOf returns a mapping's fields, those of merge keys included.
func (c *converter) fieldsOf(n ast.Node, path string, depth int) ([]field, error) {
	if depth > maxDepth {
		return nil, c.wrong(n, path, "is nested more than %d deep, or refers to itself", maxDepth)
	}
	n, err := c.resolve(n, path)
	if err != nil {
		return nil, err
	}
	mapping, ok := n.(ast.MapNode)
	if !ok {
		return nil, c.wrong(n, path, "merges what is not a mapping")
	}
	var fields []field
	put := func(f field) error {
		i := slices.IndexFunc(fields, func(g field) bool { return g.key == f.key })
		switch {
		case i < 0:
			fields = append(fields, f)
		case fields[i].merged:
			fields[i] = f
		case !f.merged:
			return &Error{File: c.file, Line: f.line, Field: join(path, f.key), Reason: "is given twice"}
		}
		return nil
	}
	for it := mapping.MapRange(); it.Next(); {
		entry := it.KeyValue()
		if entry.Key.IsMergeKey() {
			merged, err := c.mergedFields(entry.Value, path, depth)
			if err != nil {
				return nil, err
			}
			for _, f := range merged {
				f.merged = true
				_ = put(f) // a merged field is never refused
			}
			continue
		}
		key, ok := entry.Key.(ast.ScalarNode)
		if !ok {
			return nil, c.wrong(entry, path, "has a key that is not text")
		}
		if err := put(field{key: key.GetToken().Value, line: c.line(entry), value: entry.Value}); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// mergedFields returns the fields that a merge key adds: of one mapping, or of several,
// where the first one with a field wins.
func (c *converter) mergedFields(n ast.Node, path string, depth int) ([]field, error) {
	n, err := c.resolve(n, path)
	if err != nil {
		return nil, err
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return c.fieldsOf(n, path, depth+1)
	}
	var all []field
	for _, v := range slices.Backward(list.Values) {
		fields, err := c.fieldsOf(v, path, depth+1)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			all = slices.DeleteFunc(all, func(g field) bool { return g.key == f.key })
			all = append(all, f)
		}
	}
	return all, nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
