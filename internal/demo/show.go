package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// Config is what a show runs on.
type Config struct {
	API      *client.API
	Handlers *Handlers
	// Scheduler starts a process that fires, and returns its number.
	Scheduler func() (pid int, err error)
	// Kill kills that process without a warning, and returns when it is gone.
	Kill func()
	// For is how long the jobs fire.
	For time.Duration
	Out io.Writer
	// Colour is whether Out shows colours.
	Colour bool
}

// Show is one performance. It is not safe for concurrent use.
type Show struct {
	Config
	began time.Time
}

// settle bounds how long the show waits for anything, such as a takeover or the end of the last run.
const settle = time.Minute

// Run saves the jobs, kills the scheduler at a third and at two thirds of the time, and ends with the ledger. The
// error says what the show waited for in vain; a discrepancy of the ledger is one, too.
func (c Config) Run(ctx context.Context) error {
	s := &Show{Config: c, began: time.Now()}
	pid, err := s.Scheduler()
	if err != nil {
		return err
	}
	jobs, err := Jobs()
	if err != nil {
		return err
	}
	from := time.Now()
	for i := range jobs {
		if err := s.save(ctx, &jobs[i]); err != nil {
			return err
		}
	}
	s.say("%d jobs: %d fire every 5 s, one fails at first, one is a workflow of 6 steps, one runs in a crontab elsewhere", len(jobs), ticks)
	s.say("process %d fires them; NATS, history, API and an executor are in this process", pid)
	silence := s.crontab(ctx)
	defer silence()
	for range 2 {
		if err := s.fire(ctx, s.For/3); err != nil {
			return err
		}
		if pid, err = s.crash(ctx, pid); err != nil {
			return err
		}
	}
	silence()
	s.loud("the crontab elsewhere falls silent")
	if err := s.fire(ctx, s.For/3); err != nil {
		return err
	}
	return s.prove(ctx, from)
}

// save saves a job.
func (s *Show) save(ctx context.Context, j *job.Job) error {
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("encode job %s: %w", j.Job, err)
	}
	_, err = client.Read[client.PutJobResult](s.API.PutJobWithBody(ctx, j.Job.Group(), j.Job.Short(), &client.PutJobParams{}, "application/json", bytes.NewReader(data)))
	return err
}

// fire waits while the jobs fire, and tells from time to time how many runs there are.
func (s *Show) fire(ctx context.Context, during time.Duration) error {
	end := time.NewTimer(during)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-tick.C:
			s.say("%s attempts done", draw.Thousands(int64(s.Handlers.Counted().Attempts)))
		}
	}
}

// crash kills the scheduler, starts another, and waits until it has caught up.
func (s *Show) crash(ctx context.Context, pid int) (int, error) {
	s.Kill()
	killed := time.Now()
	s.loud("kill -9 %d: nobody fires", pid)
	before := s.Handlers.Counted().Late
	pid, err := s.Scheduler()
	if err != nil {
		return 0, err
	}
	s.say("process %d takes over when the leases of the dead one end", pid)
	var last time.Time
	err = s.until(ctx, "the takeover", func() bool {
		c := s.Handlers.Counted()
		last = c.Last
		return c.Late > before && c.Last.Sub(killed) > late
	})
	if err != nil {
		return 0, err
	}
	s.loud("it fires, %.1f s after the kill, and catches up", last.Sub(killed).Seconds())
	return pid, nil
}

// prove stops the fires, waits for the last end, and shows what the ledger says.
func (s *Show) prove(ctx context.Context, from time.Time) error {
	if _, err := client.Read[client.Pause](s.API.SetPause(ctx, &client.SetPauseParams{}, client.PauseSwitch{Paused: true, Note: "the demonstration is over"})); err != nil {
		return err
	}
	to := time.Now()
	s.say("all jobs are paused: now the ledger")
	var page client.VerifiedPage
	err := s.until(ctx, "the end of the last run", func() bool {
		var err error
		page, err = s.API.Verified(ctx, client.VerifyLedgerParams{From: &from, To: &to}, func(client.VerifiedPage) {}, func(error, time.Duration) {})
		return err == nil && page.Total.Undecided == 0 && page.Total.Pending == 0 && page.DecidedUntil.After(to)
	})
	if err != nil {
		return err
	}
	s.account(page.Total)
	if n := page.Total.Discrepancies; n > 0 {
		return fmt.Errorf("the ledger found %s", draw.Count(n, "discrepancy"))
	}
	return nil
}

// account writes the sums.
func (s *Show) account(t outcome.Tally) {
	c := s.Handlers.Counted()
	s.line("")
	for _, row := range []struct {
		n    int
		what string
	}{
		{t.Fires, "fires were due"},
		{t.Ran + t.CaughtUp + t.Reported, fmt.Sprintf("have a run, %d of them late: nobody fired at their time", c.Late)},
		{t.Reported, "of these ran elsewhere, and pings reported them"},
		{t.Skipped + t.Missed, "have no run, and a recorded reason: no ping came"},
		{t.Discrepancies, "have neither"},
		{c.Attempts, fmt.Sprintf("attempts by the handlers' own count, with %d retries and %d steps of workflows", c.Retries, c.Steps)},
		{c.Repeats, "of them begun twice"},
	} {
		s.line("  %8s  %s", draw.Thousands(int64(row.n)), row.what)
	}
	s.line("")
}

// until waits until done returns true, and looks often.
func (s *Show) until(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}
