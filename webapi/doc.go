// Package webapi is the HTTP API that openapi.yaml describes, and serves the console.
//
// The contract comes first: api.gen.go is generated from it, requests are checked
// against it before a handler sees them, and the tests check that every response
// keeps it. A handler translates: it asks the bus or the log store, and returns a
// typed response or an error, which problem.go turns into a problem document.
//
//	request ─▶ guard ─▶ permit ─▶ contract ─▶ handler ─▶ bus, log store
//	           host,    who, and   parameters,   │
//	           origin,  may they   body          └─▶ index: the present version of every job
//	           log
//
// # Guarantees
//
// A write is seen by every read of this server that begins after its answer; other
// servers see it some milliseconds later in lists, at once in single reads. A live
// tail has every line that can still be found, once and in order, or says how many
// it has not. Nothing but what this package wrote reaches a client as an error.
//
// Who may do what is decided before a handler runs, in one table (permit.go), against
// what is stored. Lists have what the caller sees, by their sources (visible.go).
//
// # Who gets in
//
// Package auth knows users, sessions and tokens. The server listens beyond loopback
// with TLS or behind a proxy only. It refuses what a browser may be tricked into
// sending: requests by another host name, and changes that a page of another origin
// asks for.
package webapi

//go:generate oapi-codegen -config oapi-codegen.yaml ../api/openapi.yaml
