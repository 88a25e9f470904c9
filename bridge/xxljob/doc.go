// Package xxljob lets executors of XXL-JOB attach to Carillon as they are. To them it is their admin.
// To Carillon, each of them is an instance of the group that its AppName stands for.
//
//	Java service ── registry, callback ──▶ admin ──▶ Bridge ◀── pulls, exec.* ──▶ NATS
//	             ◀── run, kill, log ────── peer  ◀──   │
//	                                                   ▼
//	                                    state: instances, runs, numbers (bucket XXLJOB)
//
// Package admin serves what executors call, package peer calls them, package wire has the messages of
// both, and package state what bridges share. This package puts them together.
//
// # Model
//
// Any number of bridges share the executors. Each instance is served by one of them: that one sends
// its heartbeats, takes runs for it and looks after them. share.go decides who that is, from what all
// bridges know. A bridge that dies is noticed within [state.DeadAfter]; another one then takes its
// instances over, with their names, their secrets and their runs.
//
// A group has one pull for all instances that this bridge serves (group.go). An instance (instance.go)
// has at most one run of a job at a time, because executors end runs by job. A run (run.go) has a
// goroutine, from its beginning to its end:
//
//	taken ── claimed ── stored in NATS ── handed over ── reported by callback ── event stored ── acknowledged
//
// # Guarantees
//
//   - A run is stored before its executor is asked to begin it, and only by the bridge that serves the
//     instance. So the bridge that takes the instance over knows every run that may be there.
//   - A callback is answered with success only when the event and the end of the run are stored. Any
//     bridge takes it, any number of times, early, late, or for a run that was given up.
//   - If nobody knows whether an executor has begun a run, it is asked (inquire.go). Only a run of
//     which it knows nothing is begun again, and never one that is at_most_once: that becomes lost.
//   - A run ends as its executor says, after its timeout, by a kill, or by the policy of its job if the
//     executor is gone or has forgotten it (inquire.go). What an executor says of a run is believed as far as
//     it has shown that it knows (evidence.go); one that lives begins a run twice at most.
//
// Not promised: that an executor which ignores an interrupt stops. And an executor that was cut off may
// still do a run that another does, too, if the job allows that.
package xxljob
