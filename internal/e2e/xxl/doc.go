// Package xxl runs XXL-JOB's own executors as processes: those in Java, of each version that speaks
// a dialect of its own, and the one in Go. Where nobody has released a dialect yet, an executor of
// ours stands in (internal/xxlstandin).
//
// It is all tests. XXL-JOB is GPLv3: Maven fetches its libraries into .cache, for a program
// (java) that runs beside the test. Nothing here links them.
//
// Clients that others have written, in Python and Node.js, run in the same way from clients, as their
// documentation shows. Their packages are pinned, and go to .cache, too. Those in Rust, and two in Go that no
// package registry has, are left out.
//
// The folder testdata holds messages as these executors have sent them.
package xxl
