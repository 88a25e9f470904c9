package node

import "runtime"

// tuneRuntime gives small machines more threads of Go code than cores: a lane that
// waits for one of two to be free is late.
func tuneRuntime() {
	if n := runtime.NumCPU(); n <= 4 && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(2 * n)
	}
}
