package kubernetes

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/goccy/go-yaml"
)

// get returns the value of a key, nil if there is none.
func get(m yaml.MapSlice, key string) any {
	for _, item := range m {
		if item.Key == key {
			return item.Value
		}
	}
	return nil
}

func sub(m yaml.MapSlice, key string) yaml.MapSlice {
	of, _ := get(m, key).(yaml.MapSlice)
	return of
}

func text(m yaml.MapSlice, key string) string {
	s, _ := get(m, key).(string)
	return s
}

func number(m yaml.MapSlice, key string) (n int64, has bool) {
	switch v := get(m, key).(type) {
	case uint64:
		return int64(min(v, 1<<40)), true
	case int64:
		return v, true
	}
	return 0, false
}

// set returns an object with a key set, in its place if it is there.
func set(m yaml.MapSlice, key string, value any) yaml.MapSlice {
	m = slices.Clone(m)
	for i := range m {
		if m[i].Key == key {
			m[i].Value = value
			return m
		}
	}
	return append(m, yaml.MapItem{Key: key, Value: value})
}

// appendTo returns an object with a value more in one of its lists.
func appendTo(m yaml.MapSlice, key string, value any) yaml.MapSlice {
	list, _ := get(m, key).([]any)
	return set(m, key, append(slices.Clone(list), value))
}

// encode returns a value as JSON, with the keys in their order.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := encodeTo(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encodeTo(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case yaml.MapSlice:
		b.WriteByte('{')
		for i, item := range v {
			key, is := item.Key.(string)
			if !is {
				return errNotJSON
			}
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encodeTo(b, key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := encodeTo(b, item.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encodeTo(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return errNotJSON
		}
		b.Write(data)
	}
	return nil
}
