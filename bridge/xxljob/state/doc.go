// Package state stores the state of the bridges for XXL-JOB executors in NATS, in bucket XXLJOB, so
// that any bridge can continue where another one ended.
//
// A key begins with its group. The credential of a bridge covers only the keys of its groups. After
// the group:
//
//	fleet.bridge.<id>                    a live bridge; renewed every [RenewEvery]
//	fleet.inst.<instance>                an instance: its address, its secret, and which bridge serves it
//	fleet.beat.<instance>                the last registration of an executor, at any bridge
//	run.<instance>.<cell>                a run at an executor, with everything needed to continue it;
//	                                     its cell is its log id modulo [Cells]
//	given-up.<instance>.<log id>         a run that was given up; its executor may still report it
//	block.<n>                            the instance that owns the log ids from n × [BlockSize] on
//	job.<name>                           the number of a job
//	number.<n>                           the job with that number
//	name                                 the AppName that the group stands for
//	next.log, next.job                   counters
//
// The upper bits of a log id identify its group ([FirstLogID]). The number of a job is unique within
// its group.
//
// # Guarantees
//
//   - A number is assigned once in a group, whatever the number of bridges.
//   - A run is written with the revision of its instance as a condition ([Fence]): a bridge that no
//     longer serves the instance cannot begin a run there.
//   - [Store.Runs] returns all runs of an instance that were written before the caller began to serve it.
//
// It reads single keys directly, and ranges of keys through servers ([bus.BridgeScan]). It creates no
// consumer: the right to create one is the right to read everything and to deliver it anywhere. See
// ADR 39.
package state
