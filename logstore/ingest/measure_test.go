package ingest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestTheDiskOfTheStoreIsMeasuredEveryMinute(t *testing.T) {
	run(t, func(w *world) {
		if _, err := w.conn.Ingest().StoreDisk(w.t.Context()); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("before anything is measured the error is %v", err)
		}
		in := w.start("a")
		time.Sleep(settled) // what is looked at below is measured a little before
		var last time.Time
		for range 3 {
			time.Sleep(time.Minute)
			d, err := w.conn.Ingest().StoreDisk(w.t.Context())
			if err != nil || d.Total <= d.Free || d.Free <= 0 || d.Used() <= 0 || d.Used() >= 100 || !d.At.After(last) {
				w.t.Fatalf("the disk is %+v, with %v, after %s", d, err, last)
			}
			last = d.At
		}
		if in.counter("carillon_store_disk_bytes") <= in.counter("carillon_store_disk_free_bytes") || in.counter("carillon_store_bytes") <= 0 {
			w.t.Error("the metrics do not tell of it")
		}
	})
}
