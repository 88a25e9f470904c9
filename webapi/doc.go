// Package webapi is the HTTP API that openapi.yaml describes, and serves the console.
//
// The contract comes first: api.gen.go is generated from it, requests are checked
// against it before a handler sees them, and the tests check every response. A
// handler translates: it asks the bus or the log store, and returns a typed response
// or an error, which problem.go turns into a problem document.
package webapi

//go:generate oapi-codegen -config oapi-codegen.yaml openapi.yaml
