// Package ingest moves what happens from the bus into a log store: the records of
// shards (TRIG), the events of executors (EVT) and log lines (LOG); and the facts beside
// runs, which are the audit log (AUDIT), incidents (the bucket ALERT) and discrepancies
// (the bucket LEDGER).
//
// Any number of nodes run it; the holder of the lease "role.ingest" works. Nothing
// is acknowledged before the store has it, so history waits on the bus while the
// store is away, for as long as the streams have room.
//
// # A batch
//
//	pull ──▶ decode ──▶ range {first, last} ──▶ store, token "EVT:first-last@made" ──▶ ack
//	              └ forged or damaged: counted, logged, left out, kept on DEAD
//
// A batch is whatever has gathered while others were written: one message when the bus
// is quiet, thousands under load. While the store takes one, the next is fetched and
// decoded, and no more than that: one range is begun at a time.
//
// Records that only announce runs are held back for a moment, and left out once the
// store has an event of each of these runs: a short run is one write, not two.
//
// The range goes to the key-value bucket first, conditional on its revision. After
// a crash the next holder writes exactly this range again, under the same token, so
// a store can tell that it has it; and an ingester that lost its lease without
// noticing is refused before it writes anything new.
//
// TRIG and EVT tell of the same runs. They take turns, from the noting of a range until
// the store has it, so that a write that failed halfway is repeated before another changes
// what it began with; and of a holder that is gone, the range that was noted last is
// written again first. Each partition does so by itself, since no other has its runs: one
// that is away holds up no other.
//
// # What was delivered and not written
//
// Acknowledging a message on EVT or LOG acknowledges all before it, so batches are
// written and acknowledged in the order of their deliveries. Messages that were delivered to an ingester that died, or on a connection that broke, must not
// be passed over by that. So a feed begins by reading from the stream what lies
// between the last range and the last delivery, and begins anew whenever the
// numbers of the deliveries show a gap. What it cannot find there is gone only if the
// stream's leader says so: the consumer that it reads through may be on a replica that
// lags behind. TRIG is a work queue, where each message is
// acknowledged by itself and comes again if it was not.
package ingest
