//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// shortChaos is how long faults are injected when nobody says.
const shortChaos = 12 * time.Second

// longestSilence is how long a healed cluster may go without a run that happens while
// there are some that have not ended. Most of it is the wait for the redelivery of
// what a dead executor had.
const longestSilence = 3 * time.Minute

// saving is how long it may take to save the jobs, about.
const saving = 8 * time.Second

// jobsFor returns how many jobs there are while there are faults for d, and how often each fires. What is late is
// made up for afterwards, and hours of faults must not leave more than that takes.
func jobsFor(d time.Duration) (jobs int, rate time.Duration) {
	if d > manyMinutes {
		return 70, 2 * time.Second // all kinds, once at least
	}
	return 200, time.Second
}

const manyMinutes = 5 * time.Minute

func TestChaosLosesAndDoublesNothingOnOneNATSServer(t *testing.T) { surviveChaos(t, 1, 1, nil) }

func TestChaosLosesAndDoublesNothingOnACluster(t *testing.T) { surviveChaos(t, 3, 1, nil) }

func TestChaosLosesAndDoublesNothingInPartitions(t *testing.T) { surviveChaos(t, 1, 3, nil) }

// surviveChaos has the history in a ClickHouse if one is given, which is killed, too.
func surviveChaos(t *testing.T, replicas, partitions int, history *chserver.Server) {
	t.Helper()
	t.Parallel() // with the other one: both wait more than they work
	d := processtest.ChaosFor(t, shortChaos)
	var flags []string
	if history != nil {
		flags = []string{"--store", history.URL(historyDatabase)}
	}
	c := newPartitioned(t, replicas, partitions, "chaos", d >= clocksFrom, flags...)
	x := &chaos{c: c, seed: rand.Uint64(), storeAway: min(d/4, time.Minute), history: history}
	t.Logf("seed %d, faults for %s", x.seed, d)

	begun := time.Now()
	jobs, rate := jobsFor(d)
	l := newLoad("chaos", jobs, rate, time.Now().Add(saving+d), kindOf)
	c.startMortals("chaos", l.until)
	w := newWishes(l, c.api)
	twice, err := newTwins(c, "chaos")
	if err != nil {
		t.Fatal(err)
	}
	l.save(t, c.api)
	desk := newDesk(l, c.api)
	x.edit, x.wish, x.twin, x.answer = func(ctx context.Context, r *rand.Rand) error { return l.edit(ctx, c.api, r) }, w.ask, twice.step, desk.answer
	ctx, heal := context.WithTimeout(t.Context(), d)
	defer heal()
	x.run(ctx)
	healed := time.Now()
	if err := c.brokenOff(); err != nil {
		t.Error(err)
	}

	c.awaitReady()
	for some := true; some; {
		processtest.Await(t, processtest.Patience, "save the last jobs", func() (err error) {
			some, err = l.saveYoung(t.Context(), c.api)
			return err
		})
	}
	a := &audit{load: l, owed: l.fires(), wishes: w, desk: desk}
	a.runs = a.drained(t, c)
	t.Logf("all ended %s after the last fault", time.Since(healed).Round(100*time.Millisecond))
	a.journal = readJournal(t, c.journal)
	a.checkLedger(t, c, begun)
	a.check(t)
	a.checkSteps(t, c.api)
	desk.check(t, a.runs)
	a.checkLogs(t, c.api, 50)
	if history != nil {
		a.checkRows(t, history)
	}
	a.figures(t, x.faults)
	t.Logf("edits saved %d, backfills and retries promised %d, triggers with two instances %d", x.edits, w.promised(), twice.both)
	c.deaths(d)
	if err := c.brokenOff(); err != nil {
		t.Error(err)
	}
	a.writeReport(t, x, begun, d)
}

// complete returns an error while the history lacks something, or another store answers
// for it.
func complete(ctx context.Context, api *client.API) error {
	state, err := client.Read[client.HistoryState](api.GetHistory(ctx))
	switch {
	case err != nil:
		return err
	case state.StandIn != nil || !state.StoreAnswers:
		return errors.New("the history is away")
	}
	for _, b := range state.Backlog {
		if b.Messages > 0 {
			return fmt.Errorf("%d messages of %s are not in the history", b.Messages, b.Stream)
		}
	}
	return nil
}

// drained answers what runs wait for, and waits until all are final, there are as many as fires, children and
// promises are owed, and the history itself has them all, or nothing more happens, and
// returns them. While the log store is away, or behind, another answers for it.
func (a *audit) drained(t *testing.T, c *system) []client.Run {
	t.Helper()
	want := 0
	for _, list := range a.owed {
		want += len(list)
	}
	ask := func(most int, statuses ...client.Status) ([]client.Run, error) {
		params := client.ListRunsParams{Group: &a.group}
		if len(statuses) > 0 {
			params.Status = &statuses
		}
		page, err := c.api.Runs(t.Context(), params, most)
		return page.Items, err
	}
	var runs []client.Run
	look := func() error {
		if err := a.desk.rest(t.Context()); err != nil {
			return err
		}
		if err := complete(t.Context(), c.api); err != nil {
			return err
		}
		open, err := ask(1, job.StatusPending, job.StatusQueued, job.StatusRunning)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return fmt.Errorf("there are runs that have not ended, such as %+v", open[0])
		}
		if runs, err = ask(0); err != nil {
			return err
		}
		had := 0
		for i := range runs {
			if _, ok := a.owed[runs[i].Job]; ok && fired(&runs[i]) {
				had++
			}
		}
		if had < want {
			return fmt.Errorf("%d fires of %d have their runs", had, want)
		}
		if lacking := append(a.unfollowed(runs), a.wishes.unmet(runs)...); len(lacking) > 0 {
			return fmt.Errorf("%d runs are lacking, such as %s", len(lacking), lacking[0])
		}
		return nil
	}
	// The journal grows as long as runs happen, and costs nothing to look at.
	var size int64
	grown := time.Now()
	err := errors.New("never asked")
	for ; err != nil && time.Since(grown) < longestSilence; time.Sleep(500 * time.Millisecond) {
		err = look()
		if info, err := os.Stat(c.journal); err == nil && info.Size() > size {
			size, grown = info.Size(), time.Now()
		}
	}
	if err != nil {
		t.Errorf("nothing has happened for %s: %v", longestSilence, err)
		if runs, err = ask(0); err != nil {
			t.Fatal(err)
		}
	}
	return runs
}
