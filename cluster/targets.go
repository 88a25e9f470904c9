package cluster

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// maxMissedTargets bounds how many jobs are kept, so that they fit into one message.
const maxMissedTargets = 2000

// MissedTargets is a list of the jobs that miss their targets. The process that has the log store
// makes it.
type MissedTargets struct {
	At   time.Time      `json:"at"`
	Jobs []MissedTarget `json:"jobs"`
	// More says that Jobs are only some of them.
	More bool `json:"more,omitempty"`
}

// MissedTarget is a job that misses its target, over [job.TargetWindow].
type MissedTarget struct {
	Job        job.Name     `json:"job"`
	Runs       int          `json:"runs"` // that its schedule asked for and that are judged
	Failures   int          `json:"failures"`
	StartDelay job.Duration `json:"start_delay_p95"`
	runlog.Verdict
}

var kindMissedTargets = figuresAt[MissedTargets]("missed-targets", "the list of jobs that miss their targets")

// Targets are the jobs that miss their targets.
type Targets struct{ conn *Conn }

// Targets returns the jobs that miss their targets.
func (c *Conn) Targets() Targets { return Targets{c} }

// PutMissed keeps the newest list, the first jobs of it if it is long. The error is
// job.ErrUnavailable.
func (ts Targets) PutMissed(ctx context.Context, m *MissedTargets) error {
	if len(m.Jobs) > maxMissedTargets {
		m = &MissedTargets{At: m.At, Jobs: m.Jobs[:maxMissedTargets], More: true}
	}
	return writeThe(ctx, ts.conn, kindMissedTargets, m)
}

// Missed returns the newest list. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (ts Targets) Missed(ctx context.Context) (*MissedTargets, error) {
	return readThe(ctx, ts.conn, kindMissedTargets)
}
