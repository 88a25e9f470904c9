package executor

import (
	"runtime"

	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

// hostLoad returns how busy the machine is, as far as its operating system tells.
func hostLoad() *fleet.HostLoad {
	h := &fleet.HostLoad{CPUs: runtime.NumCPU()}
	if avg, err := load.Avg(); err == nil {
		h.Load1 = avg.Load1
	}
	if m, err := mem.VirtualMemory(); err == nil {
		h.MemoryBytes, h.MemoryUsed = m.Total, m.Used
	}
	return h
}
