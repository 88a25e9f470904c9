//go:build !linux

package node

// hideFromTasks does nothing: there is no /proc by which tasks could read this process.
func hideFromTasks() error { return nil }
