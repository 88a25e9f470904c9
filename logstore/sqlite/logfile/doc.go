// Package logfile is a folder with the log lines of runs: a file in SQLite for each day of
// fires and class of retention, so that what is to go is removed as a whole.
//
// A file has
//
//	log_chunks   up to 256 consecutive lines of one attempt in one compressed row
//	chunk_words  which chunks have a word
//	jobs         names as numbers, how many lines each has, and when it last wrote
//
// A few files are open for writing at a time, and those that somebody reads for reading. A
// search goes from the newest day back, to the chunks that have all its words, and looks at
// their lines.
package logfile
