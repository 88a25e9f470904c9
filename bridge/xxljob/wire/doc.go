// Package wire reads and writes the messages that XXL-JOB's executors and its admin exchange over
// HTTP. It does no I/O.
//
//	executor ── registry, registryRemove, callback, job API ──▶ admin (here: the bridge)
//	executor ◀── beat, idleBeat, run, kill, log ─────────────── admin
//
// There are three dialects, see [Dialect]. What is read is accepted in any of them; what is written
// has the fields of all of them, as both sides pass over fields that they do not know. Written from
// a description of the protocol; no code of XXL-JOB is in it.
package wire
