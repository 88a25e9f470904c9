// Package state is what the bridges for executors of XXL-JOB keep in NATS, in bucket XXLJOB, so that
// any of them can go on where another one ended.
//
// A key begins with the group whose it is, and the credential of a bridge is good for the keys of its
// groups alone. After the group:
//
//	fleet.bridge.<id>                    a bridge that lives; written again every [RenewEvery]
//	fleet.inst.<instance>                an instance: its address, its secret, and which bridge serves it
//	fleet.beat.<instance>                that an executor registered lately, whichever bridge it told
//	run.<instance>.<place>               a run at an executor: everything that is needed to go on with it;
//	                                     its place is its log id modulo [Places]
//	given-up.<instance>.<log id>         a run that was given up, and that its executor may still report
//	block.<n>                            which instance has the log ids from n × [BlockSize] on
//	job.<name>                           the number of a job
//	number.<n>                           which job has it
//	name                                 the AppName that the group stands for
//	next.log, next.job                   counters
//
// A log id tells its group by its upper bits ([FirstLogID]). The number of a job is unique within its
// group.
//
// # Guarantees
//
//   - A number is never given out twice in a group, by however many bridges.
//   - A run is written with the revision of its instance as a condition ([Fence]): who does not serve
//     the instance any more begins no run there.
//   - [Store.Runs] returns all runs of an instance that were written before the caller began to serve it.
//
// It reads single keys directly, and others by asking servers ([bus.BridgeScan]), never by a consumer: the
// right to create one is the right to read everything and to deliver it anywhere. See ADR 39 and 54.
package state
