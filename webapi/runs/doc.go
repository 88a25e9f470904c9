// Package runs reads the history of runs for people, and has the acts on runs: start, cancel, rerun,
// mark, backfill. It knows no HTTP.
//
// An act checks what the caller may do and give, asks the owner of the job's shard over the bus, and
// says in the audit log what it did. The history is completed by what the bus knows: runs that wait
// for an executor say so, see package cluster.
package runs
