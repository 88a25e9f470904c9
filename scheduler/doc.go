// Package scheduler decides when runs are due and where they go.
//
// A node of the scheduler holds leases on some of the cluster's shards. For each it
// runs a state machine (package shard) and publishes what that wants as atomic
// batches:
//
//	LEASE ◀── members.go, assign.go ── which shards are ours
//	             │ own                       │ drop
//	             ▼                           ▼
//	         takeover.go ── cursor, jobs, deferred items ──▶ lane.go ── commit.go ──▶ TRIG
//	                                                          ▲   ▲
//	            JOBS, CALENDAR, EVT ── feed.go, clusterstate.go, events.go   requests.go ◀── run now, cancel
//
// When a run ends, letters.go stores letters to its children in other partitions of the cluster.
//
// Of the shards that it would inherit, a node reads the jobs ahead of time (standby.go,
// shard_jobs.go), and those of many shards in one pass (readahead.go). Whatever the number of
// shards, one consumer of JOBS and one of EVT serve all of them.
//
// A few lanes share the node's shards. A lane is one goroutine; it alone touches the
// state machines of its shards, and it has one batch under way at a time, into which
// it puts as many of its due shards as fit, because a batch costs much more than a
// message.
//
// Three types share a shard of the node, so that no goroutine reaches what is another's: an
// ownership is the lease, which all may use; a takeover makes the machine, and a laneShard has it
// from then on. What a lane must not wait for goes through an outbox.
//
// # Guarantees
//
// What package shard promises holds whatever this package does wrong: a batch is
// stored only if its shard's cursor is still the one that this node wrote. Leases
// keep two nodes from doing the same work; correctness does not rest on them, nor
// on clocks.
//
// # Tests
//
// Tests run nodes against a real JetStream server on virtual time, with package
// cluster/bustest. What needs processes and sockets is in internal/e2e.
package scheduler
