// Package shell runs shell and command tasks: scripts for /bin/sh, and programs with
// their arguments.
//
//	shell.Register(e, shell.Config{})
//
// Whoever may save a job of the group can then run programs as this process's user,
// so a program has to ask for it.
//
// The task runs in a process group of its own, in its directory or a fresh one that
// is removed afterwards, with the environment of the executor, the task's own and
//
//	CARILLON_RUN_ID      019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d
//	CARILLON_JOB         billing/nightly-report
//	CARILLON_VERSION     3
//	CARILLON_CAUSE       schedule
//	CARILLON_FIRE_TIME   2026-01-05T02:00:00.000Z
//	CARILLON_ATTEMPT     1
//	CARILLON_DELIVERY    1, or how often the attempt has reached an executor
//	CARILLON_PARAMS      the parameters as JSON, empty if there are none
//
// Each line that it prints is a line of the run's log as soon as it is complete. The
// exit code decides: 0 is success. A run that has to end gets SIGTERM, all its
// processes with it, and SIGKILL after [Config.KillAfter]. Processes that it leaves
// behind are killed when it ends; one that means to stay makes a session of its own
// (setsid) and redirects its output.
//
// On systems other than Unix there are no process groups: only the process itself is
// killed.
package shell
