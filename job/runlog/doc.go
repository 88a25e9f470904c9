// Package runlog holds the words of the history of runs: attempts, their timelines and log
// lines, and the reports that are made of them. Package logstore keeps it.
package runlog
