// Package shell runs shell, command and script tasks as child processes: scripts for
// /bin/sh, programs with their arguments, and scripts in the languages that the machine
// has interpreters for.
//
//	shell.Register(e, shell.Config{})
//
// Whoever may save a job of the group can then run programs as this process's user,
// so a program has to ask for it.
//
// The task runs in a process group of its own, in its directory or a fresh one that
// is removed afterwards, with the environment of the executor, the task's own, the
// variables that [job.Variables] lists, and
//
//	CARILLON_RESULT_FILE   where it may write its run's result, as JSON or as text
//
// A script is fetched from the bus by its digest, once, and lies in a file of the run's
// own. Its arguments are the run's parameters, the index and the total of its piece.
// Scripts in Starlark are run by a program that is given to Register, with the run's
// variables as their whole environment.
//
// Each line that is printed is a line of the run's log as soon as it is complete. The
// exit code decides: 0 is success. A run that has to end gets SIGTERM, all its
// processes with it, and SIGKILL after [Config.KillAfter]. Processes that it leaves
// behind are killed when it ends; one that means to stay makes a session of its own
// (setsid) and redirects its output.
//
// On systems other than Unix there are no process groups: only the process itself is
// killed.
package shell
