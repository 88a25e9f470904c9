package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// BenchmarkWriteRuns writes whole runs: one record and one event each, in calls of
// their own, as ingest does.
func BenchmarkWriteRuns(b *testing.B) {
	for _, jobs := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			const size = 10_000
			ctx := context.Background()
			s, err := Open(ctx, filepath.Join(b.TempDir(), "log.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			names := make([]job.Name, jobs)
			for i := range names {
				names[i] = job.Name(fmt.Sprintf("group-%d/job-%d", i%20, i))
			}
			at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
			var recorded, finished []logstore.Update
			for b.Loop() {
				b.StopTimer()
				recorded, finished = recorded[:0], finished[:0]
				for i := range size {
					fire := at.Add(time.Duration(i*20) * time.Microsecond).Truncate(time.Millisecond)
					name := names[i%jobs]
					u := logstore.Update{
						Kind: logstore.KindRecorded, Job: name, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Version: 1, Attempt: 1,
						Cause: job.CauseSchedule, At: fire.Add(5 * time.Millisecond), Status: job.StatusPending,
					}
					recorded = append(recorded, u)
					u.Kind, u.Status, u.CommittedAt = logstore.KindFinished, job.StatusSucceeded, u.At
					u.StartedAt, u.FinishedAt = fire.Add(10*time.Millisecond), fire.Add(12*time.Millisecond)
					u.Instance, u.Delivery, u.LogLines = "worker-7f9c", 1, 3
					finished = append(finished, u)
				}
				at = at.Add(200 * time.Millisecond)
				b.StartTimer()
				if err := s.WriteRuns(ctx, "", recorded); err != nil {
					b.Fatal(err)
				}
				if err := s.WriteRuns(ctx, "", finished); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*2*size/b.Elapsed().Seconds(), "upserts/s")
			b.ReportMetric(float64(b.N)*size/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
