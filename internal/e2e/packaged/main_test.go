//go:build linux

package packaged

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := theEngine.make(); err != nil {
		fmt.Fprintln(os.Stderr, "packaged:", err)
		return 1
	}
	defer theEngine.remove()
	return m.Run()
}
