package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

const (
	seedJobs  = 500 // unless told otherwise
	seedDays  = 30
	seedBatch = 20_000 // runs or lines of a write
)

// seeding is a made-up history of the last seedDays days: jobs of ten groups, some far
// busier than others, of which each fails at a rate of its own.
type seeding struct {
	runs, lines int
	end         time.Time
	jobs        []job.Name
	random      *rand.Rand
	pick        *rand.Zipf // which job fires
}

func newSeeding(jobs, runs, lines int, end time.Time) *seeding {
	s := &seeding{runs: runs, lines: lines, end: end.UTC().Truncate(time.Second), random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // is to be the same each time
	for i := range jobs {
		s.jobs = append(s.jobs, job.Name(fmt.Sprintf("group-%d/job-%d", i%10, i)))
	}
	s.pick = rand.NewZipf(s.random, 1.1, 20, uint64(jobs-1)) //nolint:gosec // is 1 or more
	return s
}

// seededRun is the first attempt of one run of the history, how many lines it printed,
// and the second attempt if there was one.
type seededRun struct {
	logstore.Update

	lines int
	again *logstore.Update
}

// next returns the i-th run, in the order of time.
func (s *seeding) next(i int) seededRun {
	n := int(s.pick.Uint64()) //nolint:gosec // is below len(s.jobs)
	name := s.jobs[n]
	fire := s.end.Add(-seedDays * 24 * time.Hour).Add(time.Duration(float64(i) / float64(s.runs) * seedDays * 24 * float64(time.Hour))).Truncate(time.Millisecond)
	committed := fire.Add(time.Duration(2+s.random.IntN(20)) * time.Millisecond)
	started := committed.Add(time.Duration(s.random.ExpFloat64()*40) * time.Millisecond)
	u := logstore.Update{
		Kind: runlog.KindFinished, RunID: job.NewRunID(fire), Job: name, Version: 1 + i*3/s.runs, Attempt: 1, Cause: job.CauseSchedule, CommittedAt: committed,
		DeliveredAt: committed.Add(started.Sub(committed) * 9 / 10).Truncate(time.Millisecond), StartedAt: started, FinishedAt: started.Add(time.Duration(float64(100+10*(n%seedJobs))*(0.5+s.random.ExpFloat64())) * time.Millisecond),
		Status: job.StatusSucceeded, Instance: fmt.Sprintf("worker-%d", s.random.IntN(20)), Delivery: 1,
	}
	u.At = u.FinishedAt
	code := 0
	switch dice := s.random.IntN(1000); {
	case dice < 10+n%30:
		u.Status, code = job.StatusFailed, 1
		u.Message = []string{"connection refused by 10.0.%d.%d", "row %d of %d is not valid", "disk /dev/sd%d is full at %d", "no such customer %d-%d"}[s.random.IntN(4)]
		u.Message = fmt.Sprintf(u.Message, s.random.IntN(250), s.random.IntN(250))
	case dice < 42:
		u.Status, code, u.Message = job.StatusTimedOut, 143, "took longer than 30s"
	case dice < 43:
		u.Status, code, u.Message = job.StatusLost, 0, "its executor vanished"
	}
	u.ExitCode = &code
	run := seededRun{Update: u, lines: s.lines / s.runs}
	if s.random.IntN(s.runs) < s.lines%s.runs {
		run.lines++
	}
	run.LogLines = run.lines
	if u.Status == job.StatusFailed && s.random.IntN(3) == 0 {
		again := u
		again.Attempt, again.CommittedAt = 2, u.FinishedAt.Add(10*time.Second)
		again.DeliveredAt, again.StartedAt, again.FinishedAt = again.CommittedAt, again.CommittedAt, again.CommittedAt.Add(u.FinishedAt.Sub(u.StartedAt))
		if again.At = again.FinishedAt; s.random.IntN(4) > 0 {
			again.Status, again.Message, again.ExitCode = job.StatusSucceeded, "", new(int)
		}
		run.Retry, run.again = true, &again
	}
	return run
}

var seedWords = strings.Fields("request answered customer invoice page cache warmed retry batch rows written connection pool idle token refreshed upload queue drained index rebuilt checksum matched")

// line returns a line of a run's log; a few are errors, and some have an id in them.
func (s *seeding) line(u *logstore.Update, seq int) runlog.Line {
	l := runlog.Line{
		RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: int64(seq), At: u.StartedAt.Add(time.Duration(seq) * time.Millisecond), Level: "info", Output: "stdout",
	}
	word := func() string { return seedWords[s.random.IntN(len(seedWords))] }
	l.Text = fmt.Sprintf("%s %s %s %d in %d ms", word(), word(), word(), s.random.IntN(100_000), s.random.IntN(900))
	switch dice := s.random.IntN(100); {
	case dice < 3:
		l.Level, l.Output, l.Text = "error", "stderr", "error: "+l.Text
	case dice < 33:
		l.Text += fmt.Sprintf(" id=%016x", s.random.Uint64())
	}
	return l
}

// fill writes the whole history into what --store names, and calls say now and then.
// ClickHouse gets the last day, makes the others of it, and merges them as it has them a
// day later.
func (s *seeding) fill(ctx context.Context, where string, store logstore.Store, say func(runs, lines int)) error {
	ch, ok := store.(*clickhouse.Store)
	if !ok || s.runs < seedDays { // of so few, a day has none
		return s.write(ctx, store, 0, say)
	}
	if err := s.write(ctx, store, s.runs-s.runs/seedDays, say); err != nil {
		return err
	}
	if err := s.multiply(ctx, where, say); err != nil {
		return err
	}
	return ch.Settle(ctx)
}

// write writes the history from a run on, and calls say now and then.
func (s *seeding) write(ctx context.Context, store logstore.Store, from int, say func(runs, lines int)) error {
	var updates []logstore.Update
	var lines []runlog.Line
	wrote, wroteLines, made := 0, 0, 0
	flushLines := func() error {
		if len(lines) == 0 {
			return nil
		}
		err := store.WriteLines(ctx, fmt.Sprintf("SEED-LOG-%d:%d-%d", s.end.Unix(), wroteLines, wroteLines+len(lines)), lines)
		wroteLines += len(lines)
		lines = lines[:0]
		return err
	}
	flush := func() error {
		if len(updates) == 0 {
			return nil
		}
		err := store.WriteRuns(ctx, fmt.Sprintf("SEED-%d:%d-%d", s.end.Unix(), wrote, wrote+len(updates)), updates)
		wrote += len(updates)
		updates = updates[:0]
		say(made, wroteLines)
		return err
	}
	for i := from; i < s.runs; i++ {
		r := s.next(i)
		made++
		updates = append(updates, r.Update)
		if r.again != nil {
			updates = append(updates, *r.again)
		}
		for seq := range r.lines {
			lines = append(lines, s.line(&r.Update, seq+1))
		}
		if len(lines) >= seedBatch {
			if err := flushLines(); err != nil {
				return err
			}
		}
		if len(updates) >= seedBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return errors.Join(flushLines(), flush())
}

// openSeeded opens what --store names: a file, or a ClickHouse.
func openSeeded(ctx context.Context, store string) (logstore.Store, error) {
	if !strings.HasPrefix(store, "clickhouse://") {
		s, err := sqlite.Open(ctx, store)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := clickhouse.Open(store, clickhouse.Config{})
	if err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newSeedCommand returns bench seed, which is no bench: what it makes stays.
func newSeedCommand() *cobra.Command {
	var jobs, runs, lines int
	var where string
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Fill a history with generated runs and lines, for bench query",
		Long: "Fill a log store with generated runs of the last 30 days and their log lines. Some jobs run more often\n" +
			"than others, and a few percent of the runs fail. The data is the same each time, except for its\n" +
			"dates. In ClickHouse, all days but the newest are copies of one day. The command deletes nothing\n" +
			"afterwards: use a store of its own.",
		Example: "  carillon bench seed --store /tmp/bench.db --runs 1000000 --lines 0\n" +
			"  carillon bench seed --store clickhouse://carillon@localhost:9000/bench --runs 10000000 --lines 100000000",
		Args: cli.NoArgs,
	}
	cmd.Flags().StringVar(&where, "store", "", "an SQLite `file`, or clickhouse://USER:PASSWORD@HOST/DATABASE")
	cmd.Flags().IntVar(&jobs, "jobs", seedJobs, "number of jobs, in ten groups: group-0/job-0, group-1/job-1 and so on")
	cmd.Flags().IntVar(&runs, "runs", 1_000_000, "number of runs")
	cmd.Flags().IntVar(&lines, "lines", 10_000_000, "number of log lines")
	_ = cmd.MarkFlagRequired("store")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if jobs < 1 || runs < 1 || lines < 0 {
			return cli.Usage(errors.New("--jobs and --runs must be 1 or more, and --lines not negative"))
		}
		store, err := openSeeded(cmd.Context(), where)
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		began, said := time.Now(), 0
		err = newSeeding(jobs, runs, lines, began).fill(cmd.Context(), where, store, func(doneRuns, doneLines int) {
			if doneRuns-said >= 10*seedBatch {
				said = doneRuns
				cmd.PrintErrf("%d runs, %d lines, %s\n", doneRuns, doneLines, time.Since(began).Round(time.Second))
			}
		})
		if err != nil {
			return err
		}
		took := time.Since(began)
		cmd.Printf("%d runs and %d lines in %s: %.0f runs and %.0f lines a second\n", runs, lines, took.Round(100*time.Millisecond), float64(runs)/took.Seconds(), float64(lines)/took.Seconds())
		return nil
	}
	return cmd
}
