package executor

import (
	"runtime"
	"testing"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestTheLoadOfTheMachineIsReadFromItsFiles(t *testing.T) {
	is := func(loads, memory string, want fleet.HostLoad) {
		t.Helper()
		want.CPUs = runtime.NumCPU()
		if got := loadOf([]byte(loads), []byte(memory)); *got != want {
			t.Errorf("%q and %q are read as %+v, want %+v", loads, memory, *got, want)
		}
	}
	is("1.25 0.80 0.50 2/300 4711\n", "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n",
		fleet.HostLoad{Load1: 1.25, MemoryBytes: 1000 << 10, MemoryUsed: 400 << 10})
	is("", "", fleet.HostLoad{})
	is("high", "MemTotal: 1000 kB\n", fleet.HostLoad{})
	is("0.00 0.01 0.05 1/100 7\n", "MemTotal: 1000 kB\nMemAvailable: 2000 kB\n", fleet.HostLoad{})
	is("2", "MemTotal: x kB\nMemAvailable: 600 kB\n", fleet.HostLoad{Load1: 2})
	if runtime.GOOS == "linux" && hostLoad().MemoryBytes == 0 {
		t.Error("the memory of this machine is not known")
	}
}
