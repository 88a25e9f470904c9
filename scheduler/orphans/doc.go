// Package orphans ends runs that the history has as alive and that nobody has.
//
// Of most jobs the owner of the shard keeps no book: any number of their runs may be alive
// at once, and nothing follows from their ends. Such a run is a trigger on TRIG and a row
// in the history. If the trigger goes and no end of it arrives, because an executor answers
// without reporting or a stream has lost messages, the row would stay as it is for ever.
//
//	history: pending, running ──▶ no trigger and no deferred item on TRIG ──▶ all that the
//	streams had by then is in the history ──▶ still alive there ──▶ end it as lost
//
// It also ends overdue runs: their executor reports them as running, or their trigger waits, a minute
// past `timeout` or `total_timeout`. See overdue.go.
//
// The process that writes to the log store looks. While the store is away nothing is
// compared. Runs of watched jobs have a deferred item; they are their owner's to end.
package orphans
