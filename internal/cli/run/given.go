package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// givenParams are the flags of parameters in the place of those that a run or a step has.
type givenParams struct {
	params string
	set    []string
}

func (g *givenParams) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.params, "params", "", "override the parameters with this `JSON` value")
	cmd.Flags().StringArrayVar(&g.set, "param", nil, "override a `field` of the parameters, KEY=VALUE; VALUE is JSON or text")
	cmd.MarkFlagsMutuallyExclusive("params", "param")
}

// read returns all parameters or some fields of them.
func (g *givenParams) read() (params json.RawMessage, set map[string]json.RawMessage, err error) {
	if g.params != "" {
		if !json.Valid([]byte(g.params)) {
			return nil, nil, fmt.Errorf("--params %q must be JSON, such as '{\"month\": \"2026-02\"}' or '\"text\"'", g.params)
		}
		params = json.RawMessage(g.params)
	}
	set, err = paramFields(g.set)
	return params, set, err
}

// paramFields reads KEY=VALUE of each of the texts. A value is JSON if it can be, else
// text.
func paramFields(texts []string) (map[string]json.RawMessage, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, errors.New("--param " + text + " must be KEY=VALUE")
		}
		if json.Valid([]byte(value)) {
			fields[key] = json.RawMessage(value)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("--param %s: %w", text, err)
		}
		fields[key] = data
	}
	return fields, nil
}
