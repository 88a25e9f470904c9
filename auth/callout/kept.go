package callout

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// sweepKept refuses groups that keep more in a bucket than their share, closes their
// connections, and removes what they have too much. A bucket that has no more in all than one
// group may have is not looked into. Each server does it: what one has removed the next does not find.
func (s *Service) sweepKept(ctx context.Context, listed map[connection]member) {
	// A group stays known when its last credential is revoked: what it has kept is still there.
	s.served = append(s.served, s.users.Credentials().AllServed()...)
	slices.Sort(s.served)
	s.served = slices.Compact(s.served)
	counting, cancel := context.WithTimeout(ctx, sweepEvery)
	defer cancel()
	kept, err := s.conn.Bulk().Shares().Surplus(counting, s.served)
	if err != nil {
		s.log.DebugContext(ctx, "keys of groups not counted", "error", err)
	}
	for _, k := range kept {
		s.keepsTooMuch(ctx, k, listed)
	}
}

// keepsTooMuch acts on a group that has too many keys in a bucket.
func (s *Service) keepsTooMuch(ctx context.Context, k fleet.Kept, listed map[connection]member) {
	now := time.Now()
	if over, until := s.budgets.found(cluster.Refusal{Group: k.Group, Kept: &k}, now); over {
		s.log.WarnContext(ctx, "group refused, as it keeps too much in a bucket", "executor_group", k.Group, "bucket", k.Bucket, "keys", k.Keys, "max_keys", k.MaxKeys, "bytes", k.Bytes, "max_bytes", k.MaxBytes, "until", until)
		s.refuse(ctx, cluster.Refusal{Group: k.Group, Until: until, Kept: &k})
	}
	reason := s.budgets.check([]string{k.Group}, now)
	for conn, m := range listed {
		if reason != nil && slices.Contains(s.users.Credentials().Served(m.group, m.id), k.Group) {
			s.kick(ctx, conn, reason.Error(), m.group, "credential", m.id)
		}
	}
	if err := s.conn.Shares().RemoveSurplus(ctx, k); err != nil {
		s.log.WarnContext(ctx, "keys of a group not removed", "executor_group", k.Group, "bucket", k.Bucket, "error", err)
		return
	}
	s.log.InfoContext(ctx, "oldest keys of a group removed", "executor_group", k.Group, "bucket", k.Bucket, "keys", k.Keys, "bytes", k.Bytes)
}
