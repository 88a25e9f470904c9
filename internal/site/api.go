package main

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// addAPI adds a page with the operations of the contract.
func (s *site) addAPI(root fs.FS) error {
	data, err := fs.ReadFile(root, contract)
	if err != nil {
		return err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", contract, err)
	}
	byTag := map[string][]string{}
	for at, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			text := fmt.Sprintf("### %s\n\n`%s %s`\n\n%s.\n", op.OperationID, method, at, cell(op.Summary))
			if op.Description != "" {
				text += "\n" + cell(op.Description) + "\n"
			}
			if rows := parameters(item, op); rows != "" {
				text += "\n| parameter | in | |\n|---|---|---|\n" + rows
			}
			byTag[op.Tags[0]] = append(byTag[op.Tags[0]], text)
		}
	}
	var text strings.Builder
	text.WriteString("# HTTP API\n\nThe operations of the API. Every server serves its whole contract at `/api/openapi.yaml`, and shows\nit at `/api/docs`, with the shapes of requests and answers.\n")
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		slices.Sort(byTag[tag])
		fmt.Fprintf(&text, "\n## %s\n\n%s", tag, strings.Join(byTag[tag], "\n"))
	}
	s.pages[apiPage] = &page{title: "HTTP API", text: text.String()}
	return nil
}

// parameters returns the rows of a table.
func parameters(item *openapi3.PathItem, op *openapi3.Operation) string {
	var rows strings.Builder
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", p.Value.Name, p.Value.In, cell(p.Value.Description))
	}
	return rows.String()
}

// cell returns text as a cell of a table may have it.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ReplaceAll(text, "|", `\|`)
}
