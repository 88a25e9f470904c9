// Package exact reads JSON without losing any of it: each digit of a number counts.
package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
)

// Unmarshal decodes one JSON value as [json.Unmarshal] does, but a number that goes into a
// value of type any becomes a [json.Number], which keeps it as it was written: a float64 has room
// for 53 bits, and ids have 64.
func Unmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the text goes on after the value")
	}
	return nil
}

// Same reports whether two texts say the same. White space and the order of fields say nothing.
// Numbers are the same if they are written alike. Text that is not JSON is the same as nothing.
func Same(a, b []byte) bool {
	var x, y any
	return Unmarshal(a, &x) == nil && Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
