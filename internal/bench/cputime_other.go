//go:build !unix

package bench

import (
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// cpuTime returns what the process has used of its processors.
func cpuTime() time.Duration {
	p, err := process.NewProcess(int32(os.Getpid())) //nolint:gosec // an id fits
	if err != nil {
		return 0
	}
	t, err := p.Times()
	if err != nil {
		return 0
	}
	return time.Duration((t.User + t.System) * float64(time.Second))
}
