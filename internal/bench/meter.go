package bench

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// meter takes what the process spends between startMeter and stop.
type meter struct {
	began   time.Time
	cpu     time.Duration
	profile *os.File // nil unless asked for
}

// startMeter begins to measure, and a CPU profile if a file for one is given.
func startMeter(profile string) (*meter, error) {
	m := &meter{}
	if profile != "" {
		var err error
		if m.profile, err = os.Create(profile); err != nil { //nolint:gosec // the file that the user named
			return nil, err
		}
		if err := pprof.StartCPUProfile(m.profile); err != nil {
			_ = m.profile.Close()
			return nil, err
		}
	}
	m.began, m.cpu = time.Now(), cpuTime()
	return m, nil
}

// stop returns what has passed and what the process used of its processors. Of
// repeated calls each returns what has passed by then.
func (m *meter) stop() (elapsed, cpu time.Duration) {
	elapsed, cpu = time.Since(m.began), cpuTime()-m.cpu
	if m.profile != nil {
		pprof.StopCPUProfile()
		_ = m.profile.Close()
		m.profile = nil
	}
	return elapsed, cpu
}

// each returns the microseconds of d that one of n things took.
func each(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(max(1, n)) }

// heapMB returns the live heap.
func heapMB() float64 {
	for range 2 { // a sync.Pool keeps its buffers through one cycle
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// cpuTime returns what this process has used of its processors.
func cpuTime() time.Duration {
	p, err := process.NewProcess(int32(os.Getpid())) //nolint:gosec // an id fits
	if err != nil {
		return 0
	}
	return cpuOf(p)
}

// cpuOf returns what a process has used of its processors, to the nearest tick of the system's clock.
func cpuOf(p *process.Process) time.Duration {
	t, err := p.Times()
	if err != nil {
		return 0
	}
	return time.Duration((t.User + t.System) * float64(time.Second))
}
