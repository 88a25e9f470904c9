package contract

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is an operation of the contract.
type Operation struct {
	ID     string
	Method string
	Path   string // as the contract writes it, with {group} for a parameter
	Status int    // of an answer that is no refusal; the lowest, if there are several
}

// Route returns the path as a router takes it, with :group for a parameter.
func (o Operation) Route() string { return strings.NewReplacer("{", ":", "}", "").Replace(o.Path) }

// Operations returns all operations of the contract by path, such that /runs/export comes before
// /runs/{run_id}, which would match it, too.
func (c *Contract) Operations() []Operation {
	var list []Operation
	paths := c.Doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) { // { is behind all letters
		operations := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			op := operations[method]
			list = append(list, Operation{ID: op.OperationID, Method: method, Path: path, Status: successOf(op)})
		}
	}
	return list
}

func successOf(op *openapi3.Operation) int {
	lowest := http.StatusBadRequest
	for code := range op.Responses.Map() {
		if status, err := strconv.Atoi(code); err == nil { // else it is the default, a problem
			lowest = min(lowest, status)
		}
	}
	return lowest
}
