package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

// store keeps a value of so many bytes under a key of a bucket.
func (w *world) store(bucket, key string, size int) {
	w.t.Helper()
	if _, err := w.conn.JS.Publish(w.t.Context(), "$KV."+bucket+"."+key, make([]byte, size)); err != nil {
		w.t.Fatal(err)
	}
}

// keeps returns what a group keeps in a bucket.
func (w *world) keeps(group, bucket string) fleet.Kept {
	w.t.Helper()
	all, err := w.conn.Shares().Kept(w.t.Context(), []string{"alpha", "beta"})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, k := range all {
		if k.Group == group && k.Bucket == bucket {
			return k
		}
	}
	return fleet.Kept{}
}

func TestBytesAreCountedWhereAGroupHasAShareOfThem(t *testing.T) {
	for _, bucket := range []string{bus.BucketXXLJob, bus.BucketOverrides} {
		t.Run(bucket, func(t *testing.T) {
			inCluster(t, func(w *world) {
				want := func(keys uint64, size int64) {
					t.Helper()
					k := w.keeps("alpha", bucket)
					if overhead := int64(keys) * 300; k.Keys != keys || k.Bytes < size || k.Bytes > size+overhead || k.MaxBytes == 0 || k.Over() {
						t.Errorf("%+v, want %d keys with some more than %d bytes", k, keys, size)
					}
				}
				for n := range 1200 { // more than a page
					w.store(bucket, fmt.Sprintf("alpha.k%d", n), 1000)
				}
				w.store(bucket, "beta.k", 400<<10)
				want(1200, 1_200_000)
				w.store(bucket, "alpha.large", 300<<10)
				want(1201, 1_200_000+300<<10)
				want(1201, 1_200_000+300<<10)
				if err := w.conn.PurgeOldest(w.t.Context(), "KV_"+bucket, "$KV."+bucket+".alpha.>", 1); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour + time.Second)
				want(1, 300<<10)
			})
		})
	}
}

func TestWhatABridgeKeepsTooMuchIsRemoved(t *testing.T) {
	inCluster(t, func(w *world) {
		for n := range 100 {
			w.store(bus.BucketXXLJob, fmt.Sprintf("alpha.k%d", n), 1000)
		}
		w.store(bus.BucketXXLJob, "beta.k", 1000)
		if over, err := w.conn.Shares().Surplus(w.t.Context(), []string{"alpha", "beta"}); err != nil || len(over) != 0 {
			t.Errorf("%+v keeps too much, %v", over, err)
		}
		k := w.keeps("alpha", bus.BucketXXLJob)
		k.MaxBytes = k.Bytes / 2
		if !k.Over() {
			t.Errorf("%+v is not over", k)
		}
		if err := w.conn.Shares().RemoveSurplus(w.t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if left := w.keeps("alpha", bus.BucketXXLJob).Keys; left < 20 || left > 25 {
			t.Errorf("%d of 100 keys are left, want a quarter", left)
		}
		if left := w.keeps("beta", bus.BucketXXLJob).Keys; left != 1 {
			t.Errorf("the other group has %d keys", left)
		}
	})
}

func TestAGroupKeepsNoMoreOverridesThanItMay(t *testing.T) {
	inCluster(t, func(w *world) {
		const id = job.RunID("r1")
		given := cluster.Overrides{Params: json.RawMessage(`{"n":1}`)}
		refused := func(share bus.Share, group string) {
			t.Helper()
			time.Sleep(5 * time.Second) // for as long an answer counts
			err := w.conn.CheckOverrides(w.t.Context(), share, group)
			var invalid *job.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != "params" || !strings.Contains(err.Error(), "group alpha keeps overrides of 2 runs") {
				t.Errorf("%v, want an error that names the share", err)
			}
			if err := w.conn.Overrides().Put(w.t.Context(), group, id+"x", given); !errors.Is(err, job.ErrInvalid) {
				t.Errorf("kept all the same: %v", err)
			}
		}
		for n := range 2 {
			if err := w.conn.Overrides().Put(w.t.Context(), "alpha", id+job.RunID(strconv.Itoa(n)), given); err != nil {
				t.Fatal(err)
			}
		}
		refused(bus.Share{Bucket: bus.BucketOverrides, Keys: 2, Bytes: 1 << 20}, "alpha")
		refused(bus.Share{Bucket: bus.BucketOverrides, Keys: 1000, Bytes: 100}, "alpha")
		if err := w.conn.Overrides().Put(w.t.Context(), "beta", id, given); err != nil {
			t.Errorf("another group: %v", err)
		}
		time.Sleep(5 * time.Second)
		if err := w.conn.Overrides().Put(w.t.Context(), "alpha", id, given); err != nil {
			t.Errorf("once there is room: %v", err)
		}
	})
}

func TestAGroupRemembersNoMoreKeysThanItMay(t *testing.T) {
	inCluster(t, func(w *world) {
		keys := cluster.RunKeysOf(w.conn)
		for _, key := range []string{"alpha.k1", "alpha.k2", "beta.k1"} {
			run := &journal.KeyedRun{Key: key, RunID: "r1", Since: time.Now(), Until: time.Now().Add(time.Hour)}
			if err := keys.Put(w.t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
		share := bus.Share{Bucket: bus.BucketKey, Keys: 2, Bytes: 1 << 20}
		if err := w.conn.CheckKeys(w.t.Context(), share, "alpha"); !errors.Is(err, job.ErrTooMany) || !strings.Contains(err.Error(), "alpha") {
			t.Errorf("%v, want an error that names the group", err)
		}
		if err := w.conn.CheckKeys(w.t.Context(), share, "beta"); err != nil {
			t.Errorf("another group: %v", err)
		}
		time.Sleep(time.Hour + 2*time.Minute) // their markers go a minute later
		if err := w.conn.CheckKeys(w.t.Context(), share, "alpha"); err != nil {
			t.Errorf("once they have expired: %v", err)
		}
	})
}
