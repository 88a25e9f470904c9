package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxText bounds the YAML of one document: the parser's time grows faster than
	// its input, and no valid document comes near.
	maxText = 1 << 20
	// maxOpen bounds brackets that are open at once, which cost the parser even more.
	maxOpen = 500
)

// parseYAML divides data into documents and parses each by itself. (The parser would
// do the dividing too, but it loses what follows an empty document, and the
// documents after one with a mistake.)
func parseYAML(file string, data []byte) ([]Document, error) {
	var docs []Document
	var problems []error
	for _, chunk := range splitYAML(data) {
		if chunk.isEmpty() {
			continue
		}
		d, err := chunk.parse(file)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if d != nil {
			docs = append(docs, *d)
		}
	}
	return docs, errors.Join(problems...)
}

// chunk is the text of one document, and how many lines come before it.
type chunk struct {
	text   []byte
	before int
}

// splitYAML divides at the lines that begin with "---" and at "...". Such a line
// ends a document wherever it stands, in a block of text too.
func splitYAML(data []byte) []chunk {
	chunks := []chunk{{}}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		content := bytes.TrimRight(text, "\r\n")
		rest, isMarker := bytes.CutPrefix(content, []byte("---"))
		if !isMarker {
			rest, isMarker = bytes.CutPrefix(content, []byte("..."))
		}
		if isMarker && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			chunks = append(chunks, chunk{before: line - 1})
			text = append([]byte("   "), text[3:]...)
		}
		last := &chunks[len(chunks)-1]
		last.text = append(last.text, text...)
	}
	return chunks
}

// isEmpty reports whether there are but blanks, comments and directives.
func (c chunk) isEmpty() bool {
	for line := range bytes.Lines(c.text) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// parse returns the document, or nil when its only content is null.
func (c chunk) parse(file string) (*Document, error) {
	d, texts, err := c.convert(file)
	if d == nil || err != nil {
		return nil, err
	}
	if err := d.identify(texts); err != nil {
		return nil, err
	}
	return d, d.checkSize()
}

// Object reads an object that is no document by itself, in YAML or JSON, as JSON. It is nil if there is none.
// file is what errors call it.
func Object(file string, r io.Reader) (json.RawMessage, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	d, _, err := chunk{text: data}.convert(file)
	if d == nil || err != nil {
		return nil, err
	}
	return d.JSON, nil
}

// convert returns the document without its kind and name, and its fields that are text; nil when its only
// content is null.
func (c chunk) convert(file string) (d *Document, texts map[string]string, err error) {
	wrong := func(line int, reason string) error {
		return &Error{File: file, Line: c.before + line, Reason: reason}
	}
	if len(c.text) > maxText {
		return nil, nil, wrong(1, fmt.Sprintf("the document has %d bytes; at most %d are read", len(c.text), maxText))
	}
	if line := c.tooDeep(); line > 0 {
		return nil, nil, wrong(line, fmt.Sprintf("more than %d brackets are open at once", maxOpen))
	}
	parsed, err := parser.ParseBytes(c.text, 0)
	if err != nil {
		if bad, ok := errors.AsType[yaml.Error](err); ok && bad.GetToken() != nil {
			return nil, nil, wrong(bad.GetToken().Position.Line, "not YAML: "+c.explain(bad))
		}
		line, _, _ := strings.Cut(err.Error(), "\n")
		return nil, nil, wrong(1, "not YAML: "+line)
	}
	if len(parsed.Docs) == 0 || parsed.Docs[0].Body == nil {
		return nil, nil, nil
	}
	body := parsed.Docs[0].Body
	if body.Type() == ast.NullType {
		return nil, nil, nil
	}
	conv := newConverter(file, c.before, body)
	d = &Document{File: file, Line: conv.line(body), lines: conv.lines}
	if !conv.isMapping(body) {
		return nil, nil, d.Problem("", "must be fields and their values, such as \"job: GROUP/NAME\"")
	}
	if err := conv.write(body, "", 0); err != nil {
		return nil, nil, err
	}
	d.JSON = conv.out.Bytes()
	return d, conv.texts, nil
}

// explain returns what is wrong in a parser's words, but of a tab that it is one: the parser says that a
// character cannot start a token.
func (c chunk) explain(bad yaml.Error) string {
	lines := bytes.Split(c.text, []byte("\n"))
	for _, at := range []int{bad.GetToken().Position.Line - 1, bad.GetToken().Position.Line} {
		if at >= 0 && at < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at], " "), []byte("\t")) {
			return "a line is indented with a tab; use spaces"
		}
	}
	return bad.GetMessage()
}

// tooDeep returns the line at which too many brackets are open, 0 if none. It counts
// those in text too, which are seldom many and most often closed.
func (c chunk) tooDeep() int {
	open, line := 0, 1
	for _, b := range c.text {
		switch b {
		case '\n':
			line++
		case '[', '{':
			if open++; open > maxOpen {
				return line
			}
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return 0
}
