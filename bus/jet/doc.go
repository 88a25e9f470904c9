// Package jet is Carillon's client of JetStream: it changes when NATS does, or the way in which we use
// NATS. It has a connection, and what the library does not do, or not as we need it. The executors' SDK
// uses only this package and package bus.
//
//	conn.go, await.go      a connection that reconnects for ever
//	batch.go               all or nothing: atomic batches, in one step or in two
//	pull.go, puller.go     the pull protocol: one portion, or as much as there is room for
//	follow.go, watch.go    every message of a stream, every change of a bucket, without gap
//	read.go, reading.go    one message, or many: a Reading says who may answer
//	records.go, mirror.go  documents in a bucket, and the same in memory
//	lease.go, lead.go      one holder of a key at a time
//	ask.go                 requests to instances and servers
//	packer.go              ends of runs, several in a message if many runs end
//	executor.go            what an executor reads, with permissions for nothing else
//
// An error is [job.ErrUnavailable] when JetStream could not be reached in time: the same call
// may succeed later.
//
// The tests that need a server are in package cluster, as jet_*_test.go: this module must not need it.
//
// The package is not called jetstream, as the library's own is, which most of its users
// import, too.
package jet
