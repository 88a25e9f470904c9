package logstore

import "github.com/carillon-scheduler/carillon/job/runlog"

// WaitFilter selects steps that wait.
type WaitFilter struct {
	Kind   runlog.WaitKind // what they wait for
	Groups []string        // as of a [RunFilter]
	// Limit bounds how many are found. Groups share it: the oldest fire of each comes first, then the second of each, and
	// so on. So a group in which few steps wait is found as a whole, however many wait in others.
	Limit int
}
