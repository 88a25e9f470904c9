// Package e2e runs Carillon's built programs as processes, and kills them, freezes
// them and cuts them off.
//
// It is all tests. The programs (processtest) are built once a run, NATS servers included
// (natsd), because what is to survive SIGKILL must not live in the test's process.
// Everything listens on loopback, on ports that were free, and writes below the
// test's own folder; every process is killed by its id when its test ends, and by
// the kernel should the test itself be killed. The last lines of every process are
// shown when a test fails.
//
// The chaos tests put a load on a cluster that mixes all policies, inject faults at
// random for as long as CARILLON_CHAOS says, heal everything, and then count: each fire
// of each job, as it follows from the job's schedule, has one run, that run has one end,
// and the runs themselves have kept a journal that says how often they really happened.
// Processes are killed and frozen; links between them are cut, which closes them or leaves
// them silent; a NATS server of three loses its streams, or the room for them; and, when
// there is a minute of faults or more, the clocks of schedulers are wrong by up to 25 h. The
// disk that is filled is a small file system in a name space, where the system allows one.
// Some faults are not left to chance: executors kill themselves at chosen instants of an
// attempt (mortal), and triggers are handed to two instances (twins). Meanwhile jobs are
// edited, and people ask for backfills and for runs once more, each of which is counted
// too. The ledger judges all of it, as "carillon ledger verify" does.
//
// A crew is executors in all languages, with the same handlers (load), that serve one group. Its
// test needs what the SDKs' tasks build, so "task sdk:together" runs it and "task test:go" does not.
package e2e
