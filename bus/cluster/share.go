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

// Kept returns how many keys each of the groups has in each bucket that executors write, those with
// the most first, and none that have no key. It leaves out a bucket that has no more keys than above
// in all. The error is job.ErrUnavailable; then it returns what it has counted.
func (c *Conn) Kept(ctx context.Context, groups []string, above func(bus.Share) int) ([]fleet.Kept, error) {
	kept := []fleet.Kept{} // never nil: the API shows it
	var errs []error
	for _, share := range bus.Shares() {
		info, err := c.Info(ctx, bucketPrefix+share.Bucket)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if info.State.Msgs <= uint64(above(share)) { //nolint:gosec // a count is positive
			continue
		}
		counts, err := c.countKeys(ctx, share, groups)
		kept, errs = append(kept, counts...), append(errs, err)
	}
	slices.SortFunc(kept, func(a, b fleet.Kept) int {
		return cmp.Or(cmp.Compare(b.Keys, a.Keys), strings.Compare(a.Bucket, b.Bucket), strings.Compare(a.Group, b.Group))
	})
	return kept, errors.Join(errs...)
}

// countKeys counts the keys of groups in one bucket.
func (c *Conn) countKeys(ctx context.Context, share bus.Share, groups []string) ([]fleet.Kept, error) {
	var mu sync.Mutex
	var kept []fleet.Kept
	var errs []error
	slots := make(chan struct{}, countersAtOnce)
	var counting sync.WaitGroup
	for _, group := range groups {
		slots <- struct{}{}
		counting.Go(func() {
			defer func() { <-slots }()
			n, err := c.Count(ctx, bucketPrefix+share.Bucket, keysOf(share.Bucket, group))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, err)
			case n > 0:
				kept = append(kept, fleet.Kept{Group: group, Bucket: share.Bucket, Keys: n, MaxKeys: share.Keys})
			}
		})
	}
	counting.Wait()
	return kept, errors.Join(errs...)
}

// RemoveSurplus removes the oldest keys of a group that has too many, so that half of its share is
// free. The error is job.ErrUnavailable.
func (c *Conn) RemoveSurplus(ctx context.Context, k fleet.Kept) error {
	if err := c.PurgeOldest(ctx, bucketPrefix+k.Bucket, keysOf(k.Bucket, k.Group), k.MaxKeys/2); err != nil {
		return fmt.Errorf("remove keys of group %s: %w", k.Group, err)
	}
	return nil
}

// keysOf matches the subjects of a group's keys.
func keysOf(bucket, group string) string { return "$KV." + bucket + "." + group + ".>" }
