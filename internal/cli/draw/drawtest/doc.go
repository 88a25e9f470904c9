// Package drawtest compares what commands draw with golden files, and has runs to draw. With the
// flag -update, a test rewrites its golden files.
package drawtest
