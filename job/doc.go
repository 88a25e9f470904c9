// Package job holds the words and rules of the system: jobs and their versions,
// schedules and the instants at which they fire, runs and what can become of them.
//
// It is the leaf that every other package imports. Nothing here does I/O, starts
// a goroutine or reads the clock: what is due is a function of a job's versions
// and an instant, so the scheduler, the preview in the console and the audit of
// the ledger get the same answer from the same call.
//
// # Words
//
// A [Job] says what to run and when. Saving it makes a [Version], which holds from
// its EffectiveFrom on. Its [Schedule] yields fires: nominal instants, in UTC, that
// lateness never moves. A fire is due [Schedule.Spread] later at the most. For each
// fire there is one run, named by a [RunID], or a recorded reason why not. A run is
// done whole, or in pieces: by every instance, with [RouteBroadcast], or as its [Map]
// cuts it.
//
// Instants are Unix milliseconds in int64 where many of them are computed, and
// [time.Time] in UTC at every boundary.
package job
