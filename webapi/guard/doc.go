// Package guard stands in front of every handler of the HTTP API: it gives a request its id, its
// limits and its security headers, refuses what a browser may be tricked into sending, finds out who
// asks, and lets through who may.
//
//	Outermost ─▶ Ours ─▶ Plain ─▶ Admit ─▶ handler
//	id, time,    host,   body     who, and
//	log line     origin           may they
//
// Errors and panics become problem documents here, see package problem. What an operation needs
// is in package access.
package guard
