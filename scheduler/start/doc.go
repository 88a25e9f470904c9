// Package start starts the runs that the code of other runs asks for.
//
// A handler asks on start.<group>, with what it was given with its attempt's trigger: the token, and the subject
// on which it is acknowledged. A server reads the trigger there:
//
//	executor ── start.<group> ──▶ any server ── is the trigger there, with this token? ──▶ TRIG
//	                                  ├── has an equal request started a run? ──▶ STARTED
//	                                  ├── asks for the run ──▶ the owner of the job's shard
//	                                  └── keeps which run it is ──▶ STARTED
//
// # Guarantees
//
//   - Only an attempt that is alive starts runs: its trigger is on the stream, and only who got it has its token.
//   - Who starts a run is its parent, whatever the request says.
//   - Equal requests of a run start one run, whichever of its attempts and pieces send them. The request has
//     the same name each time, [job.StartID], by which the owner knows it for shard.AskedFor, and the bucket
//     for [cluster.StartedFor].
//   - A group has a bounded number of requests under way, and a run starts at most [bus.MaxStarts] others.
//
// Not promised: that an equal request more than shard.AskedFor later starts nothing if the server that answered
// the first one died between the commit of its owner and the write to the bucket, and nobody asked again before.
package start
