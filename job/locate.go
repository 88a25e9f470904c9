package job

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// locate gives err the field that it is about, where err does not say so itself: a
// type that reads its own text, such as [Duration], does not know where that stands.
// data is the document that could not be decoded into a value like into.
func locate(data []byte, into any, err error) error {
	bad, ok := errors.AsType[*InvalidError](err)
	if !ok || bad.Field != "" {
		return err
	}
	same := func(part []byte) bool {
		err := json.Unmarshal(part, reflect.New(reflect.TypeOf(into).Elem()).Interface())
		return err != nil && explain(err).Error() == bad.Error()
	}
	return &InvalidError{Field: culprit(data, same), Reason: bad.Reason}
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
		if inner := culprit(fields[name], func(part []byte) bool { return same(within(part)) }); inner != "" {
			return name + "." + inner
		}
		return name
	}
	return ""
}
