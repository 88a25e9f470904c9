//go:build !linux || !amd64

package chserver

import (
	"fmt"
	"os"
)

// serve has no library for this system.
func serve(string, []string) int {
	fmt.Fprintln(os.Stderr, "load ClickHouse: there is a library for Linux on x86-64 only; put a clickhouse program on the PATH")
	return 1
}
