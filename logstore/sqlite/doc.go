// Package sqlite is a log store in one SQLite file beside the program, for
// development and for installations of one machine. It needs no C compiler and no
// other process.
//
// One connection writes, in one transaction for each call, and a few others read
// what was committed (WAL). A crash of the program loses nothing that a write
// returned for; after a power cut the newest writes may be missing.
//
// # Layout
//
//	runs        (run_id, attempt) is the primary key and, as the id begins with the
//	            fire time, also the order of time
//	pieces      the same for the pieces of attempts, by (run_id, piece, attempt)
//	changes     points of timelines that do not follow from the run's row
//	log_chunks  up to 256 consecutive lines of one attempt in one compressed row
//	jobs        names of jobs, as numbers in the other tables
//
// Instants are Unix milliseconds, 0 while they have not come.
package sqlite
