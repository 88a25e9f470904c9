// Package route orders the instances of an executor group for one run: the
// strategies behind a job's route, as pure functions.
//
//	instances, run, memory ── rank (lower is sooner) ── order in which to try
//
// Each strategy gives every instance a rank; instances of equal rank keep the order in which they
// came, which is that of their names. So first, failover and busyover have one order: the last two
// differ in that package dispatch asks instances before it offers them a run. The order always
// holds every instance: a dispatcher goes on to the next one when an instance is gone, busy or
// leaving.
//
// # Memory
//
// Three strategies look back at who had the job's runs before. What they look at is
// a [Memory], which belongs to one dispatcher: it is empty when a scheduler node
// starts, and holds the jobs that were routed most recently. Dispatchers of several
// nodes tell each other what they chose, so their memories agree but for what is on
// its way.
package route
