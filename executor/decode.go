package executor

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// decode returns the trigger in m. What passes can be reported about: an event of
// another group's job would be refused for ever.
func (l *loop) decode(m *nats.Msg) (*bus.Trigger, error) {
	t, err := bus.DecodeTrigger(m.Header, m.Data)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Job.Group() != l.e.cfg.Group:
		return nil, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of group %q", t.Job, l.e.cfg.Group)}
	case t.Attempt < 1:
		return nil, &job.InvalidError{Field: "attempt", Reason: fmt.Sprintf("%d must be 1 or more", t.Attempt)}
	case t.Shard < 0 || t.Shard >= bus.MaxShards:
		return nil, &job.InvalidError{Field: "shard", Reason: fmt.Sprintf("%d must be between 0 and %d", t.Shard, bus.MaxShards-1)}
	}
	return t, nil
}
