package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// countersAtOnce is how many groups are counted at once.
const countersAtOnce = 16

// Shares are what groups keep in buckets where each has a share.
type Shares struct{ conn *Conn }

// Shares returns what groups keep in buckets.
func (c *Conn) Shares() Shares { return Shares{c} }

// Kept returns the use of each shared bucket by each of the groups, most keys first, without those that
// have no key. The error is job.ErrUnavailable; then the result is what was counted so far.
func (ss Shares) Kept(ctx context.Context, groups []string) ([]fleet.Kept, error) {
	return ss.count(ctx, groups, append(bus.Shares(), bus.ShareOfOverrides(), bus.ShareOfKeys()), false)
}

// Surplus is Kept for groups that exceed their share of a bucket that their credentials write.
func (ss Shares) Surplus(ctx context.Context, groups []string) ([]fleet.Kept, error) {
	kept, err := ss.count(ctx, groups, bus.Shares(), true)
	return slices.DeleteFunc(kept, func(k fleet.Kept) bool { return !k.Over() }), err
}

// count is Kept for some shares. It may leave out a bucket that has no more than one group may have.
func (ss Shares) count(ctx context.Context, groups []string, shares []bus.Share, large bool) ([]fleet.Kept, error) {
	kept := []fleet.Kept{} // never nil: the API shows it
	var errs []error
	for _, share := range shares {
		info, err := ss.conn.Info(ctx, bucketPrefix+share.Bucket)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		state := info.State
		few := state.Msgs <= uint64(share.Keys)                                                     //nolint:gosec // a count is positive
		if small := share.Bytes == 0 || state.Bytes <= uint64(share.Bytes); few && small && large { //nolint:gosec // it is positive
			continue
		}
		counts, err := ss.countKeys(ctx, share, groups, state.LastSeq)
		kept, errs = append(kept, counts...), append(errs, err)
	}
	slices.SortFunc(kept, func(a, b fleet.Kept) int {
		return cmp.Or(cmp.Compare(b.Keys, a.Keys), strings.Compare(a.Bucket, b.Bucket), strings.Compare(a.Group, b.Group))
	})
	return kept, errors.Join(errs...)
}

// countKeys counts the keys of groups in one bucket, which has had messages up to a sequence.
func (ss Shares) countKeys(ctx context.Context, share bus.Share, groups []string, last uint64) ([]fleet.Kept, error) {
	var mu sync.Mutex
	var kept []fleet.Kept
	var errs []error
	slots := make(chan struct{}, countersAtOnce)
	var counting sync.WaitGroup
	for _, group := range groups {
		slots <- struct{}{}
		counting.Go(func() {
			defer func() { <-slots }()
			k, err := ss.keptOf(ctx, share, group, last)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, err)
			case k.Keys > 0:
				kept = append(kept, k)
			}
		})
	}
	counting.Wait()
	return kept, errors.Join(errs...)
}

// keptOf returns what a group has in a bucket.
func (ss Shares) keptOf(ctx context.Context, share bus.Share, group string, last uint64) (k fleet.Kept, err error) {
	k = fleet.Kept{Group: group, Bucket: share.Bucket, MaxKeys: share.Keys, MaxBytes: share.Bytes}
	k.Keys, err = ss.conn.Count(ctx, bucketPrefix+share.Bucket, keysOf(share.Bucket, group))
	if err == nil && k.Keys > 0 && share.Bytes > 0 {
		k.Bytes, err = ss.conn.tallies.size(ctx, ss.conn, share, group, last)
	}
	return k, err
}

// RemoveSurplus removes the oldest keys of a group that exceeds its share, until about half of the share
// is free. The error is job.ErrUnavailable.
func (ss Shares) RemoveSurplus(ctx context.Context, k fleet.Kept) error {
	keep := k.MaxKeys / 2
	if k.MaxBytes > 0 && k.Bytes > k.MaxBytes { // if the newest are larger than others, the next look removes more
		keep = min(keep, int(float64(k.Keys)*float64(k.MaxBytes/2)/float64(k.Bytes)))
	}
	if err := ss.conn.PurgeOldest(ctx, bucketPrefix+k.Bucket, keysOf(k.Bucket, k.Group), keep); err != nil {
		return fmt.Errorf("remove keys of group %s: %w", k.Group, err)
	}
	return nil
}

// keysOf matches the subjects of a group's keys.
func keysOf(bucket, group string) string { return "$KV." + bucket + "." + group + ".>" }
