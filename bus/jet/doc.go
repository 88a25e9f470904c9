// Package jet is Carillon's client of JetStream: a connection, and what programs do with it
// that the library does not do, or not as we need it. The executors' SDK lives on it and on
// package bus alone.
//
//	conn.go, await.go      a connection that reconnects for ever
//	batch.go               all or nothing: atomic batches, in one step or in two
//	pull.go, puller.go     the pull protocol: one portion, or as much as there is room for
//	follow.go, watch.go    every message of a stream, every change of a bucket, without gap
//	read.go, direct.go, …  reads, of the leader or of any replica; each says which
//	lease.go, lead.go      one holder of a key at a time
//	ask.go                 requests to instances and servers
//	executor.go            what an executor reads, with permissions for nothing else
//
// An error is [job.ErrUnavailable] when JetStream could not be reached in time: the same call
// may succeed later.
//
// The package is not called jetstream, as the library's own is, which most of its users
// import, too.
package jet
