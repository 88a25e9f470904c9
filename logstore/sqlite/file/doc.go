// Package file is what the files of a store in SQLite have in common, those of runs and
// those of log lines: how one is opened, the one connection that writes it, the numbers
// that jobs have in it, and how run ids and instants are stored.
package file
