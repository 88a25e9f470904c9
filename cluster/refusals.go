package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Refusal says that NATS refuses the executors of a group until an instant.
type Refusal struct {
	Group string    `json:"executor_group"`
	Until time.Time `json:"until"`
	// Kept is the share that the group exceeds, if that is the cause.
	Kept *fleet.Kept `json:"kept,omitempty"`
	// GaveBack is how often the group gave triggers back without a delay, if that is the cause. Without
	// either cause, it sends more than its budget.
	GaveBack int `json:"gave_back,omitempty"`
}

var kindRefusal = figuresAt[Refusal]("refused.", "the refusals of groups")

// Refusals are the messages of executors that servers have refused lately, by group, and the groups that keep too much.
type Refusals struct{ conn *Conn }

// Refusals returns what servers have refused lately.
func (c *Conn) Refusals() Refusals { return Refusals{c} }

// Put notes a group's last refusal, so that the alerter sees it. The error is job.ErrUnavailable.
func (rs Refusals) Put(ctx context.Context, r Refusal) error {
	_, err := kindRefusal.On(rs.conn.Conn).Put(ctx, r.Group, r)
	return err
}

// All returns the last refusal of each group that had one, also those that are over. The
// error is job.ErrUnavailable.
func (rs Refusals) All(ctx context.Context) ([]Refusal, error) {
	found, err := newest(ctx, rs.conn, kindRefusal)
	if err != nil {
		return nil, err
	}
	all := make([]Refusal, 0, len(found))
	for _, r := range found {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Refusal) int { return strings.Compare(a.Group, b.Group) })
	return all, nil
}

// FullGroup says that so many runs of an executor group wait that further ones are missed.
type FullGroup struct {
	Group string `json:"executor_group"`
	// Runs is how many triggers wait or are alive, Bytes about what they take of their stream with all
	// that belongs to them. At MaxRuns, or above MaxBytes, the group is full.
	Runs     int   `json:"runs"`
	Bytes    int64 `json:"bytes"`
	MaxRuns  int   `json:"max_runs"`
	MaxBytes int64 `json:"max_bytes"`
	// Until is when this is no longer known: it is measured again before that.
	Until time.Time `json:"until"`
}

var kindFullGroup = figuresAt[FullGroup]("full.", "the full groups")

// PutFullGroup notes that a group is full, so that the alerter sees it. The error is job.ErrUnavailable.
func (rs Refusals) PutFullGroup(ctx context.Context, f FullGroup) error {
	_, err := kindFullGroup.On(rs.conn.Conn).Put(ctx, f.Group, f)
	return err
}

// FullGroups returns of each group that was ever full what was noted last, in the order of their names.
// The error is job.ErrUnavailable.
func (rs Refusals) FullGroups(ctx context.Context) ([]FullGroup, error) {
	found, err := newest(ctx, rs.conn, kindFullGroup)
	if err != nil {
		return nil, err
	}
	all := make([]FullGroup, 0, len(found))
	for _, f := range found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b FullGroup) int { return strings.Compare(a.Group, b.Group) })
	return all, nil
}
