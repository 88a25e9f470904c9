// Package ping receives pings: words of programs elsewhere that a run of a job has begun or ended there.
//
//	secret, or user ─▶ job ─▶ rates ─▶ what it says ─▶ EVT, then 200
//
// # Guarantees
//
// A ping is answered when JetStream has stored it, not when it is understood: any server takes it, and
// no owner of the job's shard needs to be there. A ping whose token is right counts, whatever else is wrong
// with it, but for an exit code or an age that cannot be: what cannot be read of it is passed over, and the
// answer names it. A token that is known is never refused for the address that it comes from.
//
// # What it does not do
//
// It knows no HTTP. Which run a ping belongs to, the owner of the shard decides.
package ping
