// Package star runs Starlark, the language of scripts that need nothing from the
// machine that they run on: a small Python without files, processes and sockets.
//
// A script is executed from top to bottom, with while, recursion and control flow on
// the top level. These names are there besides Starlark's own, with the modules json,
// math and time:
//
//	params          the run's parameters, None if there are none
//	run             run.id, run.job, run.group, run.version, run.cause, run.fire_time, run.attempt,
//	                run.delivery, run.parent, run.step, run.instance, run.index and run.total
//	item            what the splitting run listed for this piece, or None
//	env             a dict of the variables of the task: env and secrets
//	http(method, url, headers = {}, body = "", json = None)
//	                sends a request, as an http task does; the answer has status, headers,
//	                body and json(). What does not answer fails the script
//	sleep(seconds)  waits
//	print(…)        logs a line
//	fail(…)         ends the run as failed
//	result          what the script assigns to it is the run's result, as JSON
//
// The language bounds neither time nor memory, so a script belongs into a process of
// its own, which can be killed: see docs/adr.
package star
