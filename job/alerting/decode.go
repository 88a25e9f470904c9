package alerting

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// DecodeRule reads a rule from JSON, fills in its defaults and checks it.
func DecodeRule(data []byte) (Rule, error) {
	var r Rule
	if err := decode(data, &r); err != nil {
		return r, err
	}
	r = r.WithDefaults()
	return r, r.Validate()
}

// DecodeChannel reads a channel from JSON, fills in its defaults and checks it.
func DecodeChannel(data []byte) (Channel, error) {
	var c Channel
	if err := decode(data, &c); err != nil {
		return c, err
	}
	c = c.WithDefaults()
	return c, c.Validate()
}

func decode(data []byte, into any) error {
	if len(data) > job.MaxDocument {
		return job.Invalid("", "the document has %d bytes; it may have at most %d", len(data), job.MaxDocument)
	}
	if err := job.CheckFields(data, into); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return job.Invalid("", "the document goes on after its end")
		}
		return nil
	}
	if bad, ok := errors.AsType[*job.InvalidError](err); ok {
		return bad
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return job.Invalid(typ.Field, "must not be %s", typ.Value)
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return job.Invalid(strings.Trim(text, `"`), "is not a known field")
	}
	return job.Invalid("", "not JSON")
}
