package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// References returns the references in the texts of a JSON value, in the order in which they are met;
// fields of objects are taken by name. The error says which cannot be read.
func References(value json.RawMessage) (found []Reference, err error) {
	_, err = fill(value, func(r Reference) (any, error) {
		found = append(found, r)
		return "", nil
	})
	return found, err
}

// Fill returns a JSON value with each reference in its texts replaced by what lookup returns for it. A text
// that is one reference becomes the value itself; within a longer text it must be text, a number or a
// truth value. Of $${ before a reference one $ goes, and the rest stays. All other text stays.
func Fill(value json.RawMessage, lookup func(Reference) (json.RawMessage, error)) (json.RawMessage, error) {
	filled, err := fill(value, func(r Reference) (any, error) {
		data, err := lookup(r)
		if err != nil {
			return nil, err
		}
		var v any
		if len(data) > 0 {
			if err := exact.Unmarshal(data, &v); err != nil {
				return nil, fmt.Errorf("read %s: %w", r, err)
			}
		}
		return r.in(v)
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(filled); err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// in follows the path of the reference into the value of its root.
func (r Reference) in(v any) (any, error) {
	for i, p := range r.Path {
		at := Reference{Root: r.Root, Step: r.Step, Name: r.Name, Path: r.Path[:i]}
		next, there := any(nil), false
		switch v := v.(type) {
		case map[string]any:
			next, there = v[p.Field]
			there = there && p.Field != ""
		case []any:
			if there = p.Field == "" && p.Index < len(v); there {
				next = v[p.Index]
			}
		}
		if !there {
			if r.Optional {
				return nil, nil //nolint:nilnil // null is the value
			}
			return nil, missing(at, p, v)
		}
		v = next
	}
	return v, nil
}

// maxNamed bounds how many fields an error names that are there.
const maxNamed = 10

// missing says that the value has no such part, and what it has.
func missing(at Reference, p Part, v any) error {
	switch v := v.(type) {
	case map[string]any:
		if p.Field == "" {
			return fmt.Errorf("%s is an object and has no [%d]", at, p.Index)
		}
		have := slices.Sorted(maps.Keys(v))
		if len(have) == 0 {
			return fmt.Errorf("%s has no field %s; it is empty", at, p.Field)
		}
		more := ""
		if len(have) > maxNamed {
			have, more = have[:maxNamed], ", …"
		}
		for i := range have {
			have[i] = clip.Text(have[i], MaxName)
		}
		return fmt.Errorf("%s has no field %s; it has %s%s", at, p.Field, strings.Join(have, ", "), more)
	case []any:
		if p.Field != "" {
			return fmt.Errorf("%s is a list and has no field %s; write %s[0].%s for that of its first", at, p.Field, at, p.Field)
		}
		return fmt.Errorf("%s has no [%d]; it is a list of %d", at, p.Index, len(v))
	case nil:
		return fmt.Errorf("%s is null and has no %s", at, strings.TrimPrefix(written([]Part{p}), "."))
	}
	return fmt.Errorf("%s is neither an object nor a list and has no %s", at, strings.TrimPrefix(written([]Part{p}), "."))
}

// fill returns the value with each reference replaced by what value returns for it.
func fill(raw json.RawMessage, value func(Reference) (any, error)) (any, error) {
	var v any
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil //nolint:nilnil // nothing has no references
	}
	if err := exact.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	return fillIn(v, value)
}

func fillIn(v any, value func(Reference) (any, error)) (_ any, err error) {
	switch v := v.(type) {
	case string:
		return fillText(v, value)
	case []any:
		for i := range v {
			if v[i], err = fillIn(v[i], value); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if v[k], err = fillIn(v[k], value); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// fillText returns the text, or the value if it is one reference.
func fillText(text string, value func(Reference) (any, error)) (any, error) {
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "${")
		name, tail, closed := strings.Cut(after, "}")
		switch {
		case !found:
			b.WriteString(rest)
			return b.String(), nil
		case !closed || !rooted(name):
			b.WriteString(before + "${")
			rest = after
			continue
		case strings.HasSuffix(before, "$"):
			b.WriteString(before + "{" + name + "}")
			rest = tail
			continue
		}
		r, err := parseReference(name)
		if err != nil {
			return nil, err
		}
		v, err := value(r)
		if err != nil {
			return nil, err
		}
		if before == "" && tail == "" && b.Len() == 0 && rest == text {
			return v, nil
		}
		b.WriteString(before)
		switch v := v.(type) {
		case string:
			b.WriteString(v)
		case json.Number:
			b.WriteString(v.String())
		case bool:
			fmt.Fprintf(&b, "%t", v)
		case nil:
			return nil, fmt.Errorf("%s is null, which cannot be part of a text", r)
		default:
			return nil, fmt.Errorf("%s is an object or a list, which cannot be part of a text; make ${%s} the whole text", r, r)
		}
		rest = tail
	}
}
