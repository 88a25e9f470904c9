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

// The formats of an answer: for people, with more columns and whole texts, the first column, for
// scripts, and as the API returns it.
const (
	AsTable Format = "table"
	AsWide  Format = "wide"
	AsNames Format = "name"
	AsJSON  Format = "json"
	AsYAML  Format = "yaml"
)

var formatNames = []string{string(AsTable), string(AsWide), string(AsNames), string(AsJSON), string(AsYAML)}

func (f *Format) String() string { return string(*f) }

// Set reads a flag.
func (f *Format) Set(s string) error {
	if !slices.Contains(formatNames, s) {
		return fmt.Errorf("must be one of %s", strings.Join(formatNames, ", "))
	}
	*f = Format(s)
	return nil
}

// IsData reports whether an answer is shown as the API returns it, not as a table.
func (f Format) IsData() bool { return f == AsJSON || f == AsYAML }

// Type names the flag's values in the help.
func (f *Format) Type() string { return "format" }

// Show writes v as JSON or YAML, or what fill makes of it for people, with instants by a
// clock, or the names in its first column. Those of JSON and YAML are in UTC.
func (f Format) Show(w io.Writer, clock draw.Clock, v any, fill func(*draw.Table)) error {
	if !f.IsData() {
		_, terminal := w.(*draw.Screen)
		t := draw.Table{Clock: clock, Wide: f == AsWide, Whole: !terminal || f != AsTable, Colour: terminal && draw.WantsColour()}
		fill(&t)
		if f == AsNames {
			return t.WriteNames(w)
		}
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
