// Package run has the commands of runs: start, watch, read, repeat, mark and cancel them.
package run
