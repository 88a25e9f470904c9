package problem

import (
	"fmt"
	"runtime/debug"
)

// Crash is a panic on its way to the log.
type Crash struct {
	value any
	Stack []byte
}

func (e *Crash) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// CrashOf returns what was recovered, with the stack of the panic.
func CrashOf(v any) error { return &Crash{v, debug.Stack()} }
