// Package dispatch hands triggers to the instances that their jobs' routes choose.
//
// Jobs with a route other than any, or with labels, have their triggers on subjects
// of their own. A dispatcher on every scheduler node pulls them, for each group that
// has a live instance and has had such a job or run:
//
//	TRIG route-<group> ── pulled ── asked in order ──▶ exec.<group>.<instance>.run
//	                         │            accepted: the instance owns the acknowledgement
//	                         │            busy, leaving, gone: the next one
//	                         ├── all of the group are busy: it waits here until one is free
//	                         └── nobody: given back with a delay, and the history says why
//
// What has been accepted looks as if the instance had pulled it: it says that the
// attempt lives, and acknowledges its end. When it dies, JetStream delivers the
// trigger to a dispatcher again after [bus.AckWait]; so it does when a dispatcher dies.
// The order of the instances is package route's.
//
// # Guarantees
//
//   - An instance that is gone costs nothing but a question, and that once for each of
//     its last heartbeats.
//   - A run whose request was not answered in time is not offered to another instance:
//     nobody knows whether it was heard. JetStream delivers its trigger again, unless
//     somebody says that it lives.
//   - A trigger that comes again is judged first, also one that an executor has pulled and
//     handed over: its attempt begins, or is lost, only when no instance has it, no end of it
//     is stored, and whoever does not answer is gone. See ADR 24, judge.go and presence.go.
//   - An attempt that must not be done twice is begun by the one instance whose claim
//     JetStream stores first. How often its trigger was delivered before that does not
//     matter.
//   - A task that no instance can do waits for one that can, and the history is told why.
//   - A group is served by goroutines and requests of its own, of which there is a
//     bounded number: one whose executors are stuck delays no other. While all its
//     instances are busy, what has been pulled waits here and begins in its order, and no
//     more than 512 triggers are pulled: however long its queue on the stream is, it costs
//     nothing. Pulled and given back again and again, it would take from all others its
//     share of the server and of the history.
//
// A piece of a broadcast is meant for one instance. It waits for that one while it is
// busy, and goes to another only when it is not there, or takes no work.
//
// # Governed groups
//
// Of a group that has limits, or jobs with priorities, all triggers come here. They are placed as
// others are, by one dispatcher, which holds the lease for the group; and a governor permits each:
//
//	TRIG high-<group> ── some of each ──▶ queue ── room, a token, its turn ──▶ offered as above
//	     route-<group>                      ▲  └── begun too late: missed
//	     low-<group>                        └── nobody was free
//
// How many runs are alive is what JetStream has delivered and not had acknowledged, less
// what waits in the queue. JetStream forgets a trigger that is taken off its stream, so one whose end
// is heard leaves the queue. Nothing of this is stored elsewhere: the next dispatcher counts
// again. Those of a partition that does not answer stay as they were counted last, so the group
// goes on in the others. A dispatcher that has not counted them yet begins none. No trigger of such a
// group is given back while it waits: until it comes again, it would count as alive.
//
// Not promised: that the route's first choice gets the run. Busy instances are passed
// over; a job that must not run elsewhere needs labels that only one instance has.
package dispatch
