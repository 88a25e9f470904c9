package executor

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

// hostLoad returns how busy the machine is, as far as the files in /proc tell: nothing but the number of
// CPUs where there are none.
func hostLoad() *fleet.HostLoad {
	loads, _ := os.ReadFile("/proc/loadavg") // an error: there is no such file
	memory, _ := os.ReadFile("/proc/meminfo")
	return loadOf(loads, memory)
}

// loadOf reads the two files as proc(5) describes them.
func loadOf(loads, memory []byte) *fleet.HostLoad {
	h := &fleet.HostLoad{CPUs: runtime.NumCPU()}
	first, _, _ := strings.Cut(string(loads), " ")
	h.Load1, _ = strconv.ParseFloat(first, 64)
	total, available := sizeOf(memory, "MemTotal:"), sizeOf(memory, "MemAvailable:")
	if available > 0 && available <= total {
		h.MemoryBytes, h.MemoryUsed = total, total-available
	}
	return h
}

// sizeOf returns the bytes that the line of that name says; 0 if there is none.
func sizeOf(memory []byte, name string) uint64 {
	for line := range strings.Lines(string(memory)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == name && words[2] == "kB" {
			kib, err := strconv.ParseUint(words[1], 10, 54)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
