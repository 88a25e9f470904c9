// Package webapi is the HTTP API that openapi.yaml describes, and serves the console.
//
// The contract comes first: requests are checked against it before a handler sees them, and the tests
// check that every response keeps it. The table in routes.go has the handler of each operation, and one
// adapter (operation.go) decodes requests into their types, which api.gen.go has, and encodes answers.
// A handler translates: request in, one call, response out. Acts on jobs and runs are in packages of their own. What is only
// stored and shown, such as a calendar, a handler reads and writes in cluster itself. The handlers
// of each family of resources are one struct, and [New] puts the structs together.
//
//	request ─▶ guard ─▶ contract ─▶ handler ─▶ catalog, runs, bulk, alerts, nodes ─▶ bus, log store
//	           host,    parameters,   │        stream, export
//	           who, and body          │
//	           may they               └─▶ problem: what a client is told of an error
//
// # Rooms
//
//   - problem: errors as problem documents
//   - access: who may do what, and what they see
//   - guard: what stands in front of every handler
//   - contract: the check of requests, and the reference
//   - auditlog: the entry of each change
//   - nodes: nodes and executors as they are now
//   - catalog: jobs, and the acts on them
//   - runs: the history, and the acts on runs
//   - bulk: many jobs or runs at a time
//   - alerts: incidents and their messages
//   - stream: live logs and events
//   - export: lists as files, and answers to SQL
//
// # Guarantees
//
// A write is seen by every read of this server that begins after its answer; other servers see it
// some milliseconds later in lists, at once in single reads. A live tail has every line that can still
// be found, once and in order, or says how many it has not. Nothing but what these packages wrote
// reaches a client as an error.
//
// Who may do what is decided before a handler runs, in one table in package access, against what is
// stored. Lists have what the caller sees, by their sources.
//
// # Who gets in
//
// Package auth knows users, sessions and tokens. The server listens beyond loopback with TLS or
// behind a proxy only. It refuses what a browser may be tricked into sending: requests by another host
// name, and changes that a page of another origin asks for.
package webapi

//go:generate oapi-codegen -config oapi-codegen.yaml ../api/openapi.yaml
