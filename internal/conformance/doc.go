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
// Each case has a stage and an executor of its own. The stage (stage.go) records what the executor
// sends, and answers as the case sets it up. A case sends something, waits for the answer, and
// checks it.
package conformance
