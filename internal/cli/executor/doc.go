// Package executor has the commands of executor groups and of their instances.
package executor
