package alerting

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// DecodeRule reads the document of a rule from JSON, fills in its defaults and checks it.
func DecodeRule(data []byte) (RuleDocument, error) {
	var d RuleDocument
	if err := decode(data, &d.Rule); err != nil { // whose errors name fields without those of d around them
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, err
	}
	d.Rule = d.WithDefaults()
	return d, d.Validate()
}

// DecodeChannel reads the document of a channel from JSON, fills in its defaults and checks it.
func DecodeChannel(data []byte) (ChannelDocument, error) {
	var d ChannelDocument
	if err := decode(data, &d.Channel); err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, err
	}
	d.Channel = d.WithDefaults()
	return d, d.Validate()
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
