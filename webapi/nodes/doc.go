// Package nodes tells what the cluster is made of now: scheduler nodes and their shards, executor
// groups with their instances and handlers, and which runs wait for an executor.
//
// It completes what the history says of runs that have not ended. While the bus is away, the history
// is shown without that.
package nodes
