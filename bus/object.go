package bus

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// object is the beginning of a JSON object, to which its methods append a field each.
// It is for the messages that every run has; the others use package json.
type object []byte

func (o *object) key(name string) {
	separator := byte(',')
	if len(*o) == 0 {
		separator = '{'
	}
	*o = append(append(append(*o, separator, '"'), name...), '"', ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	*o, _ = jsontext.AppendQuote(*o, value) // the error tells of bytes that are no UTF-8; they are replaced
}

func (o *object) textNonempty(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) number(name string, value int) {
	o.key(name)
	*o = strconv.AppendInt(*o, int64(value), 10)
}

func (o *object) numberNonzero(name string, value int) {
	if value != 0 {
		o.number(name, value)
	}
}

func (o *object) truth(name string, value bool) {
	o.key(name)
	*o = strconv.AppendBool(*o, value)
}

func (o *object) instant(name string, at time.Time) {
	o.key(name)
	*o = append(at.AppendFormat(append(*o, '"'), time.RFC3339Nano), '"')
}

func (o *object) instantNonzero(name string, at time.Time) {
	if !at.IsZero() {
		o.instant(name, at)
	}
}

// raw appends a value that is JSON already, without its white space.
func (o *object) raw(name string, value json.RawMessage) error {
	o.key(name)
	buf := bytes.NewBuffer(*o)
	err := json.Compact(buf, value)
	*o = buf.Bytes()
	return err
}

// value appends what json.Marshal makes of a value.
func (o *object) value(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	o.key(name)
	*o = append(*o, data...)
	return nil
}

// end returns the whole object.
func (o *object) end() []byte { return append(*o, '}') }
