// Package conformance tests executors of any language against docs/reference/protocol.md.
//
// It starts a NATS server without JetStream, plays JetStream and a Carillon server on it, and starts
// the executor as a process. So it sees every message, and can refuse, delay, repeat and reorder what
// it answers. [Run] runs the cases and reports, for each that fails, what was sent, what came back,
// and the passage of the page that asks for it.
//
// The executor under test reads CARILLON_NATS and CARILLON_GROUP, and has the handlers that
// [Handlers] lists.
//
// The stage (stage.go) has one goroutine's worth of state behind a mutex: what was heard, and how to
// answer. A case tells the stage what to do, waits for what must come, and checks it. Nothing is
// shared between cases but the executor.
package conformance
