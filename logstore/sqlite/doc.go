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
// and in a folder beside it there is a file of log lines for each day of fires and class
// of retention, which is removed as a whole:
//
//	log_chunks   up to 256 consecutive lines of one attempt in one compressed row
//	chunk_words  which chunks have a word
//	jobs         names as numbers, how many lines each has, and when it last wrote
//
// A search goes from the newest day back, to the chunks that have all its words, and
// looks at their lines.
//
// Instants are Unix milliseconds, 0 while they have not come.
package sqlite
