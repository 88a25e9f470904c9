// Package sqlite is a log store in SQLite files beside the program, for development and
// for installations of one machine. It needs no C compiler and no other process.
//
// One connection of a file writes, in one transaction for each call, and a few others
// read what was committed (WAL). A crash of the program loses nothing that a write
// returned for; after a power cut the newest writes may be missing.
//
// # Layout
//
// The file that is opened has
//
//	runs        (run_id, attempt) is the primary key and, as the id begins with the
//	            fire time, also the order of time
//	pieces      the same for the pieces of attempts, by (run_id, piece, attempt)
//	changes     points of timelines that do not follow from the run's row
//	report_*    what became of runs, added up by minute, hour and day
//	facts       what happened beside runs
//	jobs        names of jobs, as numbers in the other tables
//
// and in a folder beside it there are the files of log lines, which are those of
// [github.com/carillon-scheduler/carillon/logstore/sqlite/logfile]. What all files have in common, the connection that
// writes and the numbers of jobs, is in [github.com/carillon-scheduler/carillon/logstore/sqlite/file].
//
// Instants are Unix milliseconds, 0 while they have not come.
package sqlite
