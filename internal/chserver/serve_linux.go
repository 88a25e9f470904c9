//go:build linux && amd64

package chserver

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// serve runs clickhouse-local out of a library, and returns its exit code when its
// standard input has ended.
func serve(library string, args []string) int {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load ClickHouse:", err)
		return 1
	}
	var local func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var errorOf func(result unsafe.Pointer) string
	purego.RegisterLibFunc(&local, handle, "chdb_query_cmdline")
	purego.RegisterLibFunc(&errorOf, handle, "chdb_result_error")

	runtime.LockOSThread() // it keeps much in thread locals
	var pins runtime.Pinner
	defer pins.Unpin()
	args = append([]string{"clickhouse-local"}, args...)
	argv := make([]*byte, 0, len(args)+1)
	for _, a := range args {
		text := append([]byte(a), 0)
		pins.Pin(&text[0])
		argv = append(argv, &text[0])
	}
	argv = append(argv, nil)
	pins.Pin(&argv[0])
	result := local(int32(len(args)), unsafe.Pointer(&argv[0])) //nolint:gosec // a handful of arguments
	if result != nil {
		if text := errorOf(result); text != "" {
			fmt.Fprintln(os.Stderr, text)
			return 1
		}
	}
	return 0
}
