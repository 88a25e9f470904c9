package spool

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the id of this boot, and the time since then.
func sinceBoot() (boot string, since time.Duration) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0
	}
	var at unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &at) != nil {
		return "", 0
	}
	return strings.TrimSpace(string(id)), time.Duration(at.Nano())
}
