package cluster

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Refusal says that NATS refuses the executors of a group until an instant, because they send
// more than their budget.
type Refusal struct {
	Group string    `json:"executor_group"`
	Until time.Time `json:"until"`
}

const refusedPrefix = "refused."

// PutRefusal notes a group's last refusal, so that the alerter sees it. The error is job.ErrUnavailable.
func (c *Conn) PutRefusal(ctx context.Context, r Refusal) error {
	return c.putMeasured(ctx, measured{refusedPrefix + r.Group, "that a group is refused"}, r)
}

// Refusals returns the last refusal of each group that had one, also those that are over. The
// error is job.ErrUnavailable.
func (c *Conn) Refusals(ctx context.Context) ([]Refusal, error) {
	newest, err := newestMeasured[Refusal](ctx, c, refusedPrefix, "which groups are refused")
	if err != nil {
		return nil, err
	}
	all := make([]Refusal, 0, len(newest))
	for _, r := range newest {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Refusal) int { return strings.Compare(a.Group, b.Group) })
	return all, nil
}
