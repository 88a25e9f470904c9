// Package problem turns errors into what clients of the HTTP API are told: a problem document
// with a status and a code.
//
// One table, in problem.go, says which error gets which status and code. A client never sees
// text that is not ours: what NATS or a database says stays in the log. [Explain] gives an error a
// sentence for the client, and [Invalid] names the field that is wrong.
package problem
