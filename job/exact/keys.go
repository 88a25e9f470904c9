package exact

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxDepth is how deep values may be nested whose keys are looked at. encoding/json refuses deeper ones.
const maxDepth = 10_000

// Twice returns the path of a duplicate field, such as "schedule.cron"; "" if there is none: it would be
// ambiguous which of the two counts. It returns "" for text that is not JSON or is nested more than
// 10,000 deep.
func Twice(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		switch delim, _ := token.(json.Delim); {
		case delim == '{' || delim == '[':
			if len(open) == maxDepth {
				return ""
			}
			l := level{index: -1}
			if delim == '{' {
				l.seen = map[string]bool{}
			}
			open = append(open, l)
		case delim != 0:
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return ""
		}
		at := &open[len(open)-1]
		switch {
		case !dec.More():
		case at.seen == nil:
			at.index++
		default:
			if token, err = dec.Token(); err != nil {
				return ""
			}
			at.key, _ = token.(string)
			if at.seen[at.key] {
				return pathOf(open)
			}
			at.seen[at.key] = true
		}
	}
}

// level is an object or a list that is open, and where in it the reader is.
type level struct {
	seen  map[string]bool // the keys of an object; nil for a list
	key   string
	index int
}

func pathOf(open []level) string {
	path := ""
	for i := range open {
		if l := &open[i]; l.seen != nil {
			path = join(path, l.key)
		} else {
			path += fmt.Sprintf("[%d]", l.index)
		}
		if len(path) > maxPath {
			return path
		}
	}
	return path
}

// maxPath is from which length on a path is not continued.
const maxPath = 200

// Unknown returns the path of a field, as spelled, that the type of into does not have, and the nearest
// known field; "" if there is none. into is a pointer. Fields whose types decode themselves are not
// checked inside. Text that is not JSON has no unknown fields.
func Unknown(data []byte, into any) (path, nearest string) {
	return unknown(data, reflect.TypeOf(into).Elem(), "", true)
}

var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func unknown(data []byte, t reflect.Type, path string, top bool) (field, nearest string) {
	if p := reflect.PointerTo(t); !top && (p.Implements(readsJSON) || p.Implements(readsText)) {
		return "", ""
	}
	switch t.Kind() { //nolint:exhaustive // the others have no fields
	case reflect.Pointer:
		return unknown(data, t.Elem(), path, false)
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) != nil {
			return "", ""
		}
		for i, item := range items {
			if field, nearest = unknown(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), false); field != "" {
				return field, nearest
			}
		}
	case reflect.Struct, reflect.Map:
		var values map[string]json.RawMessage
		if json.Unmarshal(data, &values) != nil {
			return "", ""
		}
		known := map[string]reflect.Type{}
		if t.Kind() == reflect.Struct {
			fieldsOf(t, known)
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			inner, ok := known[name]
			if t.Kind() == reflect.Map {
				inner, ok = t.Elem(), true
			}
			if !ok {
				return join(path, name), Nearest(name, slices.Sorted(maps.Keys(known)))
			}
			if field, nearest = unknown(values[name], inner, join(path, name), false); field != "" {
				return field, nearest
			}
		}
	}
	return "", ""
}

// fieldsOf collects the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type, known map[string]reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			fieldsOf(f.Type, known)
		case name != "":
			known[name] = f.Type
		}
	}
}

// Nearest returns the name that was most likely meant: one in another case, one with few other
// letters, or one that is a part of the given name, or the reverse.
func Nearest(name string, known []string) string {
	if len(name) > maxPath {
		return ""
	}
	low := strings.ToLower(name)
	best, least := "", 1+min(2, len(name)/3)
	for _, k := range known {
		if d := distance(low, k); d < least {
			best, least = k, d
		}
	}
	if best != "" || len(name) < 4 {
		return best
	}
	for _, k := range known {
		if len(k) >= 4 && (strings.Contains(low, k) || strings.Contains(k, low)) {
			return k
		}
	}
	return ""
}

// distance returns how many letters have to be changed, added or removed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
