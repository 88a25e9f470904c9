package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"carillon/internal/cli/draw"
)

// format is how an answer is shown. It is a pflag.Value.
type format string

const (
	asTable format = "table"
	asJSON  format = "json"
	asYAML  format = "yaml"
)

var formatNames = []string{string(asTable), string(asJSON), string(asYAML)}

func (f *format) String() string { return string(*f) }

// Set reads a flag.
func (f *format) Set(s string) error {
	if !slices.Contains(formatNames, s) {
		return fmt.Errorf("must be one of %s", strings.Join(formatNames, ", "))
	}
	*f = format(s)
	return nil
}

// Type names the flag's values in the help.
func (f *format) Type() string { return "format" }

// show writes v as JSON or YAML, or what fill makes of it for people.
func (f format) show(w io.Writer, v any, fill func(*draw.Table)) error {
	if f == asTable {
		_, terminal := w.(*draw.Screen)
		t := draw.Table{Whole: !terminal}
		fill(&t)
		return t.Write(w)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if f == asYAML {
		return draw.WriteYAML(w, data)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
