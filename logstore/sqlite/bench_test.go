package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
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
						Kind: runlog.KindRecorded, Job: name, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Version: 1, Attempt: 1,
						Cause: job.CauseSchedule, At: fire.Add(5 * time.Millisecond), Status: job.StatusPending,
					}
					recorded = append(recorded, u)
					u.Kind, u.Status, u.CommittedAt = runlog.KindFinished, job.StatusSucceeded, u.At
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

// BenchmarkWriteLines writes the lines of many runs, a few each, as ingest does.
func BenchmarkWriteLines(b *testing.B) {
	const runs, each = 2000, 5
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "log.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		b.StopTimer()
		at = at.Add(time.Second)
		lines := make([]runlog.Line, 0, runs*each)
		for i := range runs {
			name := job.Name(fmt.Sprintf("group/job-%d", i))
			id := job.FireRunID(name, at.UnixMilli(), job.CauseSchedule)
			for seq := range each {
				lines = append(lines, runlog.Line{
					RunID: id, Job: name, Attempt: 1, Seq: int64(seq + 1), At: at, Level: "info", Output: "stdout",
					Text: fmt.Sprintf("processed order %d of customer %d in %d ms", i*7919, i*104729%5000, seq*13),
				})
			}
		}
		b.StartTimer()
		if err := s.WriteLines(ctx, "", lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*runs*each/b.Elapsed().Seconds(), "lines/s")
	stats, err := s.Stats(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(stats.Bytes)/float64(b.N*runs*each), "B/line")
}

// BenchmarkRead reads from a history of a million runs of a thousand jobs, one in
// five hundred of which failed.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "log.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	var names []job.Name
	for i := range 1000 {
		names = append(names, job.Name(fmt.Sprintf("group-%d/job-%d", i%20, i)))
	}
	for second := range 1000 {
		var updates []logstore.Update
		for i, name := range names {
			fire := at.Add(time.Duration(second) * time.Second)
			u := logstore.Update{
				Kind: runlog.KindFinished, Job: name, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Version: 1, Attempt: 1,
				Cause: job.CauseSchedule, At: fire.Add(5 * time.Millisecond), CommittedAt: fire, Status: job.StatusSucceeded,
				StartedAt: fire, FinishedAt: fire.Add(time.Second), Instance: "worker-7f9c", Delivery: 1,
			}
			if (second*1000+i*7)%500 == 0 {
				u.Status = job.StatusFailed
			}
			updates = append(updates, u)
		}
		if err := s.WriteRuns(ctx, "", updates); err != nil {
			b.Fatal(err)
		}
	}
	stats, err := s.Stats(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes a run", stats.Bytes/1_000_000)
	middle := logstore.Cursor{RunID: job.FireRunID(names[0], at.Add(500*time.Second).UnixMilli(), job.CauseSchedule), Attempt: 1}.String()
	for name, f := range map[string]logstore.RunFilter{
		"newest 50":                 {},
		"in the middle":             {Cursor: middle},
		"of a job":                  {Jobs: names[:1]},
		"of a group":                {Group: "group-3"},
		"failed":                    {Statuses: []job.Status{job.StatusFailed}},
		"failed of a job":           {Jobs: names[:1], Statuses: []job.Status{job.StatusFailed}},
		"of a group, in the middle": {Group: "group-3", Cursor: middle},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Runs(ctx, f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("count all", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Counts(ctx, logstore.RunFilter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("last 5 of 50 jobs", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.LastRuns(ctx, names[:50], 5); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSearch looks for a part of a word that no line has, in 400,000 lines of a day.
func BenchmarkSearch(b *testing.B) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "log.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	const runs, each = 2000, 200
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for i := range runs {
		name := job.Name(fmt.Sprintf("group-%d/job", i%20))
		id := job.FireRunID(name, at.Add(time.Duration(i)*time.Second).UnixMilli(), job.CauseSchedule)
		lines := make([]runlog.Line, each)
		for seq := range lines {
			lines[seq] = runlog.Line{
				RunID: id, Job: name, Attempt: 1, Seq: int64(seq + 1), At: at, Level: "info", Output: "stdout",
				Text: fmt.Sprintf("处理订单%d完成，客户%d，用时 %d ms", i*7919+seq, i*104729%5000, seq*13),
			}
		}
		if err := s.WriteLines(ctx, "", lines); err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range []string{"失败", "*imeout*", "absent"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if page, err := s.Search(ctx, logstore.SearchFilter{Text: text}); err != nil || len(page.Lines) > 0 {
					b.Fatal(page, err)
				}
			}
			b.ReportMetric(float64(b.N)*runs*each/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
