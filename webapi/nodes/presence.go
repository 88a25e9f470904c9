package nodes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// View is what is known of the cluster. It knows which instances are alive well enough to judge runs
// by it: to ask the bus makes a consumer, which is too much for each list that has a run in progress.
// It is safe for concurrent use.
type View struct {
	conn *cluster.Conn
	log  *slog.Logger
	asks singleflight.Group

	mu    sync.Mutex
	known roll
}

// New returns a view of the cluster that conn is connected to.
func New(conn *cluster.Conn, log *slog.Logger) *View { return &View{conn: conn, log: log} }

// roll is the instances that there are, and when the bus was asked for them.
type roll struct {
	at        time.Time
	instances []fleet.Instance
}

const (
	// presenceFor is for how long an answer of the bus counts. An instance is silent for
	// many times as long before it is taken for gone.
	presenceFor = time.Second
	// CompletionTimeout bounds how long the bus is waited for by what the history is complete
	// enough without: a request that is on its way when the connection breaks has no answer.
	CompletionTimeout = 2 * time.Second
	// askTimeout bounds one round of questions to the bus, for all callers that wait
	// for it.
	askTimeout = 10 * time.Second
	// presenceSkew is by how much the clocks of executors may differ from ours.
	presenceSkew = 5 * time.Second
)

// call returns all instances, as of a second ago at most. Nobody changes the list.
func (v *View) call(ctx context.Context) (roll, error) {
	v.mu.Lock()
	known := v.known
	v.mu.Unlock()
	if time.Since(known.at) < presenceFor {
		return known, nil
	}
	asking, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	found, err := v.ask(asking)
	if err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.known = found
	}
	return found, err
}

// ask returns all instances. The first caller asks for all who come before the answer, so the
// question must not end with that request.
func (v *View) ask(ctx context.Context) (roll, error) {
	answer := v.asks.DoChan("", func() (any, error) {
		asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		found := roll{at: time.Now()}
		var err error
		found.instances, err = v.conn.Instances(asked)
		return found, err
	})
	select {
	case <-ctx.Done():
		return roll{}, fmt.Errorf("%w: list instances: %w", job.ErrUnavailable, ctx.Err())
	case a := <-answer:
		if a.Err != nil {
			return roll{}, a.Err
		}
		return a.Val.(roll), nil
	}
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
func showSilent(runs []runlog.Run, known roll) {
	alive := make(map[string]bool, len(known.instances))
	for i := range known.instances {
		alive[known.instances[i].Key()] = known.instances[i].Alive()
	}
	for i := range runs {
		r := &runs[i]
		if r.Status == job.StatusRunning && r.Instance != "" && !alive[r.Job.Group()+"."+r.Instance] && r.StartedAt.Before(known.at.Add(-presenceSkew)) {
			r.Reason = reason.Text(reason.InstanceLost.With(r.Instance))
		}
	}
}
