// Package stream serves what does not end: logs of a run as they are printed, logs of all runs that
// match, and what changes. All are server-sent events.
//
//	Server.Tail    lines of one run, each that can still be found, once and in order
//	Server.Watch   lines of all runs as far as they match, as many as a reader can follow
//	Server.Events  that jobs, runs, executors, alerts or the cluster have changed
//
// A stream ends with "bye" when the server stops, or when the reader loses the permission. [Open]
// bounds how many streams there are. [Linger] keeps a connection that was refused open until the
// client has read why.
package stream
