// Package state is what the bridges for executors of XXL-JOB keep in NATS, in bucket XXLJOB, so that
// any of them can go on where another one ended.
//
//	fleet.bridge.<id>                    a bridge that lives; written again every [RenewEvery]
//	fleet.inst.<group>.<instance>        an instance: its address, its secret, and which bridge serves it
//	fleet.beat.<group>.<instance>        that an executor registered lately, whichever bridge it told
//	run.<group>.<instance>.<place>       a run at an executor: everything that is needed to go on with it;
//	                                     its place is its log id modulo [Places]
//	given-up.<group>.<instance>.<log id> a run that was given up, and that its executor may still report
//	block.<n>                            which instance has the log ids from n × [BlockSize] on
//	job.<group>.<name>                   the number of a job
//	number.<n>                           which job has it
//	name.<group>                         the AppName that the group stands for
//	next.log, next.job                   counters
//
// # Guarantees
//
//   - A number is never given out twice, by however many bridges.
//   - A run is written with the revision of its instance as a condition ([Fence]): who does not serve
//     the instance any more begins no run there.
//   - [Store.Runs] returns all runs of an instance that were written before the caller began to serve it.
//
// It reads by requests alone, never by a consumer. A consumer may deliver to any subject, so the right to
// create one is the right to write anywhere. See ADR 39.
package state
