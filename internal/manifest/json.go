package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// parseJSON reads one object after the other.
func parseJSON(file string, data []byte) ([]Document, error) {
	var docs []Document
	var problems []error
	r := &jsonReader{file: file, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	for {
		d, err := r.next()
		if errors.Is(err, io.EOF) {
			return docs, errors.Join(problems...)
		}
		if err != nil {
			problems = append(problems, err)
			if r.broken { // nobody knows where the next one would begin
				return docs, errors.Join(problems...)
			}
			continue
		}
		docs = append(docs, *d)
	}
}

// jsonReader walks through JSON token by token, for the sake of the lines.
type jsonReader struct {
	file   string
	data   []byte
	dec    *json.Decoder
	broken bool

	counted int64 // bytes of data whose lines are in line
	line    int   // lines before counted
	lines   map[string]int
	texts   map[string]string
}

// next returns the next document, and io.EOF after the last.
func (r *jsonReader) next() (*Document, error) {
	r.lines, r.texts = map[string]int{}, map[string]string{}
	first, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, r.syntax(err)
	}
	start := r.dec.InputOffset() - 1
	d := &Document{File: r.file, Line: r.lineNow(), lines: r.lines}
	if first != json.Delim('{') {
		r.broken = true
		return nil, d.Problem("", "must be an object, with a field \"job\" or \"calendar\"")
	}
	if err := r.object("", 0); err != nil {
		return nil, err
	}
	d.JSON = r.data[start:r.dec.InputOffset()]
	if err := d.identify(r.texts); err != nil {
		return nil, err
	}
	return d, d.checkSize()
}

// value reads the value at path, whose first token is t.
func (r *jsonReader) value(t json.Token, path string, depth int) error {
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(path, depth+1)
		}
		return r.array(path, depth+1)
	case string:
		if path == string(Job) || path == string(Calendar) {
			r.texts[path] = t
		}
	}
	return nil
}

// object reads up to the closing brace.
func (r *jsonReader) object(path string, depth int) error {
	if depth > maxDepth {
		return r.deep(path)
	}
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return r.syntax(err)
		}
		name, _ := key.(string) // More promises a key, and keys are strings
		p := join(path, name)
		if seen[name] {
			r.broken = true
			return &Error{File: r.file, Line: r.lineNow(), Field: p, Reason: "is given twice"}
		}
		seen[name] = true
		r.lines[p] = r.lineNow()
		if err := r.element(p, depth); err != nil {
			return err
		}
	}
	return r.end()
}

// array reads up to the closing bracket.
func (r *jsonReader) array(path string, depth int) error {
	if depth > maxDepth {
		return r.deep(path)
	}
	for i := 0; r.dec.More(); i++ {
		p := fmt.Sprintf("%s[%d]", path, i)
		if err := r.element(p, depth); err != nil {
			return err
		}
	}
	return r.end()
}

func (r *jsonReader) element(path string, depth int) error {
	t, err := r.dec.Token()
	if err != nil {
		return r.syntax(err)
	}
	if _, ok := r.lines[path]; !ok {
		r.lines[path] = r.lineNow()
	}
	return r.value(t, path, depth)
}

func (r *jsonReader) end() error {
	if _, err := r.dec.Token(); err != nil {
		return r.syntax(err)
	}
	return nil
}

func (r *jsonReader) deep(path string) error {
	r.broken = true
	return &Error{File: r.file, Line: r.lineNow(), Field: path, Reason: fmt.Sprintf("is nested more than %d deep", maxDepth)}
}

// lineNow returns the line of the token that was read last.
func (r *jsonReader) lineNow() int {
	now := r.dec.InputOffset()
	r.line += bytes.Count(r.data[r.counted:now], []byte("\n"))
	r.counted = now
	return r.line + 1
}

func (r *jsonReader) syntax(err error) error {
	r.broken = true
	reason := "not JSON: " + err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		reason = "not JSON: it ends before the object does"
	}
	return &Error{File: r.file, Line: r.lineNow(), Reason: reason}
}
