package nodes

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// View is what is known of the cluster. It is safe for concurrent use.
type View struct {
	conn *cluster.Conn
	log  *slog.Logger
}

// New returns a view of the cluster that conn is connected to.
func New(conn *cluster.Conn, log *slog.Logger) *View { return &View{conn: conn, log: log} }

const (
	// CompletionTimeout bounds how long the bus is waited for by what the history is complete
	// enough without: a request that is on its way when the connection breaks has no answer.
	CompletionTimeout = 2 * time.Second
	// presenceSkew is by how much the clocks of executors may differ from ours.
	presenceSkew = 5 * time.Second
)

// call returns all instances, if the bus answers soon.
func (v *View) call(ctx context.Context) (cluster.Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	return v.conn.Instances().Fleet(ctx)
}

// MarkSilent gives the reason to running runs whose executor's heartbeat has ceased: they
// wait for another executor, which gets the trigger when its AckWait ends. The history
// learns of it only from that one. Their status stays what it is in the history, by which
// lists are filtered and counted: nobody is shown what they cannot find. While the bus is
// away, all are shown as the history has them.
func (v *View) MarkSilent(ctx context.Context, lists ...[]runlog.Run) error {
	if !anyRunning(lists) {
		return nil
	}
	known, err := v.call(ctx)
	if err != nil {
		return v.WithoutBus(ctx, err)
	}
	for _, runs := range lists {
		showSilent(runs, known)
	}
	return nil
}

// WithoutBus returns the error of what the history is completed by, but nil if the bus is
// away: the history is shown without.
func (v *View) WithoutBus(ctx context.Context, err error) error {
	if !errors.Is(err, job.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	v.log.DebugContext(ctx, "history shown without what the bus knows", "error", err)
	return nil
}

func anyRunning(lists [][]runlog.Run) bool {
	for _, runs := range lists {
		for i := range runs {
			if runs[i].Status == job.StatusRunning {
				return true
			}
		}
	}
	return false
}

// showSilent changes, in runs, those on an instance that is not among the live ones. One
// that began after the bus was asked may be on an instance that is newer still. A run that
// is done in pieces is on no instance: its pieces are.
func showSilent(runs []runlog.Run, known cluster.Fleet) {
	alive := make(map[string]bool, len(known.Instances))
	for i := range known.Instances {
		alive[known.Instances[i].Key()] = known.Instances[i].Alive()
	}
	for i := range runs {
		r := &runs[i]
		if r.Status == job.StatusRunning && r.Instance != "" && !alive[r.Job.Group()+"."+r.Instance] && r.StartedAt.Before(known.At.Add(-presenceSkew)) {
			r.Reason = reason.Text(reason.InstanceLost.With(r.Instance))
		}
	}
}
