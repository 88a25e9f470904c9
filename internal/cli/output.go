package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
)

// Format is how an answer is shown. It is a pflag.Value.
type Format string

// The formats of an answer: for people, and as the API returns it.
const (
	AsTable Format = "table"
	AsJSON  Format = "json"
	AsYAML  Format = "yaml"
)

var formatNames = []string{string(AsTable), string(AsJSON), string(AsYAML)}

func (f *Format) String() string { return string(*f) }

// Set reads a flag.
func (f *Format) Set(s string) error {
	if !slices.Contains(formatNames, s) {
		return fmt.Errorf("must be one of %s", strings.Join(formatNames, ", "))
	}
	*f = Format(s)
	return nil
}

// Type names the flag's values in the help.
func (f *Format) Type() string { return "format" }

// Show writes v as JSON or YAML, or what fill makes of it for people, with instants by a
// clock. Those of JSON and YAML are in UTC.
func (f Format) Show(w io.Writer, clock draw.Clock, v any, fill func(*draw.Table)) error {
	if f == AsTable {
		_, terminal := w.(*draw.Screen)
		t := draw.Table{Clock: clock, Whole: !terminal}
		fill(&t)
		return t.Write(w)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if f == AsYAML {
		return draw.WriteYAML(w, data)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
