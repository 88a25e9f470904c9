package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// locate gives err the field that it is about, where err does not say so itself: a
// type that reads its own text, such as [Duration], does not know where that stands, and
// encoding/json does not say in which item of a list something is.
// data is the document that could not be decoded into a value like into.
func locate(data []byte, into any, err error) error {
	bad, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return err
	}
	same := func(part []byte) bool {
		dec := json.NewDecoder(bytes.NewReader(part))
		dec.DisallowUnknownFields()
		err := dec.Decode(reflect.New(reflect.TypeOf(into).Elem()).Interface())
		return err != nil && explain(err).Error() == bad.Error()
	}
	if path := culprit(data, reflect.TypeOf(into).Elem(), same); len(path) > len(bad.Field) || strings.Contains(path, "[") {
		return &InvalidError{Field: path, Reason: bad.Reason}
	}
	return bad
}

// culprit returns the path of the field that alone is enough for same to hold; ""
// when there is none. It looks into the items of lists of objects only. t is the type of the value, nil if
// that reads itself.
func culprit(value []byte, t reflect.Type, same func([]byte) bool) string {
	var items []json.RawMessage
	if t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && json.Unmarshal(value, &items) == nil {
		return culpritOf(items, t.Elem(), same)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		within := func(value []byte) []byte {
			part, err := json.Marshal(map[string]json.RawMessage{name: value})
			if err != nil {
				return nil
			}
			return part
		}
		if !same(within(fields[name])) {
			continue
		}
		if same(within([]byte("null"))) { // whatever is in it
			return name
		}
		inner := culprit(fields[name], typeOf(t, name), func(part []byte) bool { return same(within(part)) })
		return join(name, inner)
	}
	return ""
}

// culpritOf is [culprit] for a list.
func culpritOf(items []json.RawMessage, t reflect.Type, same func([]byte) bool) string {
	within := func(item []byte) []byte { return slices.Concat([]byte("["), item, []byte("]")) }
	for i, item := range items {
		if same(within(item)) {
			inner := culprit(item, t, func(part []byte) bool { return same(within(part)) })
			return join(fmt.Sprintf("[%d]", i), inner)
		}
	}
	return ""
}

// typeOf returns the type of a field of struct t, nil if there is no such field.
func typeOf(t reflect.Type, name string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type
		}
	}
	return nil
}

// join returns the path of what is called inner in the value at path.
func join(path, inner string) string {
	if inner == "" || inner[0] == '[' {
		return path + inner
	}
	return path + "." + inner
}
