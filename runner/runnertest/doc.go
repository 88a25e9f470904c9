// Package runnertest runs an executor on a real bus and in real time. It is for tests
// of runners that work outside the process: child processes and the network know no
// virtual time.
package runnertest
