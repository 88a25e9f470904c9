package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// locate gives err the field that it is about, where err does not say so itself: a
// type that reads its own text, such as [Duration], does not know where that stands, and
// of an unknown field only the name is told, not what it is in.
// data is the document that could not be decoded into a value like into.
func locate(data []byte, into any, err error) error {
	bad, ok := errors.AsType[*InvalidError](err)
	if !ok || bad.Field != "" && bad.Reason != unknownField {
		return err
	}
	same := func(part []byte) bool {
		dec := json.NewDecoder(bytes.NewReader(part))
		dec.DisallowUnknownFields()
		err := dec.Decode(reflect.New(reflect.TypeOf(into).Elem()).Interface())
		return err != nil && explain(err).Error() == bad.Error()
	}
	if path := culprit(data, same); path != "" {
		return &InvalidError{Field: path, Reason: bad.Reason}
	}
	return bad
}

// culprit returns the path of the field that alone is enough for same to hold; ""
// when there is none.
func culprit(object []byte, same func([]byte) bool) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
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
		if inner := culprit(fields[name], func(part []byte) bool { return same(within(part)) }); inner != "" {
			return name + "." + inner
		}
		return name
	}
	return ""
}
