// Package backup writes all that people have configured to a file, and brings it back:
// jobs and calendars with their versions, scripts, groups, users, hashes of tokens,
// credentials of executors, sealed secrets, alerts, and the switch for everything.
//
// What is under way is not in it: triggers, cursors, sessions, history. So a restore is
// into an empty system on which no server runs, and what was due between backup and
// restore is not caught up.
//
// A file is gzipped JSON, a line each: a head, the entries in the order in which they
// were written, and a foot with their number and sum. Without its foot a file is
// refused, before anything is written; and a restore that breaks off leaves a system on
// which no server starts, until the same file has been restored whole.
package backup
