// Package bus is the wire: the subjects, streams, buckets, headers and messages with which
// the programs of Carillon talk to each other. docs/reference/protocol.md is the same for
// programs in other languages.
//
//	TRIG   work queue  triggers, and with them, atomically: cursors, deferred items, records
//	EVT    limits      what executors say about runs
//	LOG    limits      what runs print
//	AUDIT  limits      what people and programs have changed
//	JOBS, CALENDAR, CLUSTER, GROUPS, SCRIPT, SECRET, HANDLER, INST, LEASE, CLAIM, OVERRIDES, KEY, STARTED,
//	ALERT, LEDGER, ACCESS, SESSION, XXLJOB   key-value buckets
//
// A trigger lives on TRIG exactly as long as its attempt, so the un-acknowledged
// triggers and the deferred items are the set of live runs, and there is no other
// copy of that truth to disagree with it.
//
// Messages are JSON, one file a kind (trigger.go, event.go, …), each with a golden
// file in testdata. A header names kind and version: see [HeaderMessage]. [Tokens] makes
// and checks what binds a message to an attempt. Package journal has the messages that only
// servers read.
//
// The package makes and reads messages and needs no connection. Package bus/jet sends them
// and reads streams. Package cluster is what servers keep in NATS.
//
// Package cluster/embedded runs the server inside the process, cluster/bustest runs it on
// virtual time for tests.
package bus
