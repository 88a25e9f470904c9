// Package bus is Carillon on JetStream: subjects, streams, buckets, leases, atomic
// batches, and the messages that travel.
//
// Everything durable that the system knows while it runs is here; docs/reference/protocol.md
// is the same for programs in other languages.
//
//	TRIG   work queue  triggers, and with them, atomically: cursors, deferred items, records
//	EVT    limits      what executors say about runs
//	LOG    limits      what runs print
//	AUDIT  limits      what people and programs have changed
//	JOBS, CALENDAR, CLUSTER, GROUPS, SCRIPT, SECRET, HANDLER, INST, LEASE, ACCESS, SESSION   key-value buckets
//
// A trigger lives on TRIG exactly as long as its attempt, so the un-acknowledged
// triggers and the deferred items are the set of live runs, and there is no other
// copy of that truth to disagree with it.
//
// Messages are JSON, one file a kind (trigger.go, event.go, …), each with a golden
// file in testdata. A header names kind and version: see [HeaderMessage].
//
// Package bus/embedded runs the server inside the process, bus/bustest runs it on
// virtual time for tests.
package bus
