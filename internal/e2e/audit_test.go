//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// audit compares what was owed with what the history says, and with what the runs
// themselves wrote down.
type audit struct {
	*load
	owed    map[job.Name][]time.Time
	wishes  *wishes
	desk    *desk
	ledger  client.VerifiedPage
	runs    []client.Run
	journal map[job.RunID][]int // the deliveries that ran, by run
}

// most is how many differences of a kind are told.
const most = 10

// differences collects what is wrong, by kind.
type differences map[string][]string

func (d differences) add(kind, format string, args ...any) {
	d[kind] = append(d[kind], fmt.Sprintf(format, args...))
}

func (d differences) report(t *testing.T) {
	t.Helper()
	for kind, list := range d {
		t.Errorf("%d %s:\n  %s", len(list), kind, strings.Join(list[:min(len(list), most)], "\n  "))
	}
}

// check tells everything that contradicts the promises.
func (a *audit) check(t *testing.T) {
	t.Helper()
	wrong := differences{}
	type fire struct {
		job job.Name
		at  int64
	}
	found := map[fire]int{}
	for i := range a.runs {
		r := &a.runs[i]
		if _, ok := a.owed[r.Job]; ok && fired(r) {
			found[fire{r.Job, r.FireTime.UnixMilli()}]++
		}
		a.checkRun(wrong, r)
		if k := a.kind(r.Job); r.Status.Final() && k.pieces > 0 && !k.mayEnd(r.Status) {
			t.Logf("the pieces of %s: %s", r.RunID, a.pieces(t, r.RunID))
		}
	}
	a.checkFollowers(wrong)
	a.wishes.check(wrong, a.runs)
	for name, fires := range a.owed {
		for _, at := range fires {
			f := fire{name, at.UnixMilli()}
			switch n := found[f]; {
			case n == 0:
				wrong.add("fires without a run", "%s at %s", name, at.Format(time.RFC3339))
			case n > 1:
				wrong.add("fires with several runs", "%s at %s: %d", name, at.Format(time.RFC3339), n)
			}
			delete(found, f)
		}
	}
	for f, n := range found {
		wrong.add("runs that no fire asked for", "%s at %s: %d", f.job, time.UnixMilli(f.at).UTC().Format(time.RFC3339Nano), n)
	}
	wrong.report(t)
}

// pieces describes how each piece of a run ended, and why.
func (a *audit) pieces(t *testing.T, id job.RunID) string {
	t.Helper()
	list, err := client.Read[client.PieceList](a.wishes.api.ListPieces(t.Context(), string(id), &client.ListPiecesParams{}))
	if err != nil {
		return err.Error()
	}
	var tell strings.Builder
	for i := range list.Items {
		p := &list.Items[i]
		fmt.Fprintf(&tell, "\n  %d on %s, delivery %d, committed %s, begun %s, ended %s: %s %s%s", p.Piece, p.Instance, p.Delivery,
			p.CommittedAt.Format(time.StampMilli), p.StartedAt.Format(time.StampMilli), p.FinishedAt.Format(time.StampMilli), p.Status, p.Message, p.Reason)
	}
	return tell.String()
}

// fired reports whether a run is one that a schedule asked for.
func fired(r *client.Run) bool { return r.Cause == job.CauseSchedule || r.Cause == job.CauseMisfire }

// early is by how much a run may begin before it is due: schedulers take their clocks to be
// right that differ by less.
const early = 3 * time.Second

// checkRun checks what one row says against what the run itself wrote.
func (a *audit) checkRun(wrong differences, r *client.Run) {
	tell := fmt.Sprintf("%s of %s, delivery %d on %s, journal %v", r.RunID, r.Job, r.Delivery, r.Instance, a.journal[r.RunID])
	happened := a.journal[r.RunID]
	k := a.kind(r.Job)
	switch {
	case !r.Status.Final():
		wrong.add("runs that are not final", "%s %s: %s", k.name, tell, r.Status)
	case !k.mayEnd(r.Status):
		wrong.add("runs that ended as they should not", "%s %s: attempt %d, %s, %s%s", k.name, tell, r.Attempt, r.Status, r.Message, r.Reason)
	case r.Status == job.StatusSucceeded && len(k.steps) == 0 && len(happened) < max(1, k.attempts, k.pieces):
		wrong.add("runs that succeeded without having happened", "%s %s", k.name, tell)
	case r.Status == job.StatusSkipped && len(happened) > 0:
		wrong.add("runs that happened though they were skipped", "%s %s", k.name, tell)
	}
	if fired(r) && !r.StartedAt.IsZero() && r.StartedAt.Before(r.FireTime.Add(-early)) {
		wrong.add("runs that began before their time", "%s %s: due %s, begun %s", k.name, tell, r.FireTime, r.StartedAt)
	}
	if k.once && len(happened) > 1 {
		wrong.add("runs done more often than the at most once that was asked", "%s", tell)
	}
	if r.Count != 1 || r.Attempt > 1 && k.attempts == 0 || r.Status == job.StatusSucceeded && r.Attempt < k.attempts {
		wrong.add("rows that stand for something else", "%s %s: attempt %d, count %d", k.name, tell, r.Attempt, r.Count)
	}
}

// checkLogs reads the logs of some runs that printed a line, and wants it for each time
// that they happened, or may have: a line that was printed just before a kill is lost
// with its executor. Lines reach the store after the run's end: an ingester that lost
// its bus waits for what it had in its hands as long as the consumer's AckWait.
func (a *audit) checkLogs(t *testing.T, api *client.API, sample int) {
	t.Helper()
	wrong := differences{}
	patience, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := range a.runs {
		r := &a.runs[i]
		if a.kind(r.Job).name != "printing" || sample == 0 {
			continue
		}
		sample--
		page := readLog(patience, t, api, r.RunID)
		// An executor that stood still while a run ended may say of itself that the output stayed open.
		printed := slices.DeleteFunc(slices.Clone(page.Items), func(l client.LogLine) bool { return l.Output == "log" })
		foreign := func(l client.LogLine) bool { return l.Text != "I am "+string(r.RunID) }
		if n := len(printed); n == 0 || n > len(a.journal[r.RunID]) || slices.ContainsFunc(printed, foreign) {
			wrong.add("logs that are not what the run printed", "%s, journal %v: %v", r.RunID, a.journal[r.RunID], page.Items)
		}
	}
	wrong.report(t)
}

// readLog returns a run's log once it has a line, or as it is when patience ends.
func readLog(patience context.Context, t *testing.T, api *client.API, id job.RunID) *client.LogPage {
	t.Helper()
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for {
		page, err := client.Read[client.LogPage](api.GetLogs(t.Context(), string(id), &client.GetLogsParams{}))
		if err != nil {
			t.Fatalf("read log of %s: %v", id, err)
		}
		if len(page.Items) > 0 || patience.Err() != nil {
			return &page
		}
		select {
		case <-again.C:
		case <-patience.Done():
		}
	}
}

// readJournal reads what runs wrote. A run that was killed in the middle of a line
// cannot be: lines are written at once.
func readJournal(t *testing.T, path string) map[job.RunID][]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	journal := map[job.RunID][]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var id job.RunID
		var delivery int
		if _, err := fmt.Sscan(lines.Text(), &id, &delivery); err != nil {
			t.Errorf("line %q of the journal: %v", lines.Text(), err)
			continue
		}
		journal[id] = append(journal[id], delivery)
	}
	return journal
}

// figures tells what the runs and faults were like.
func (a *audit) figures(t *testing.T, faults []fault) {
	t.Helper()
	var again, twice, sameDelivery, lost int
	var worst time.Duration
	for i := range a.runs {
		r := &a.runs[i]
		if r.Attempt == 1 && fired(r) { // a further one is committed when it is due
			worst = max(worst, r.CommittedAt.Sub(r.FireTime))
		}
		if r.Delivery > 1 {
			again++
		}
		if r.Status == job.StatusLost {
			lost++
		}
		if happened := a.journal[r.RunID]; len(happened) > 1 {
			twice++
			if happened[0] == happened[1] {
				sameDelivery++
			}
		}
	}
	fires := 0
	for _, list := range a.owed {
		fires += len(list)
	}
	t.Logf("fires %d, runs %d, delivered again %d, executed again %d (%d of them under one delivery number), lost by at_most_once %d, worst lateness of a commit %s",
		fires, len(a.runs), again, twice, sameDelivery, lost, worst)
	a.lateness(t, faults)
}

// manyFaults is from how many on faults are told by kind only.
const manyFaults = 25

// lateness tells the faults, with how late the fires due in their time, or soon
// after, were committed.
func (a *audit) lateness(t *testing.T, faults []fault) {
	t.Helper()
	const after = 5 * time.Second
	kinds := map[string][]time.Duration{}
	for _, f := range faults {
		target, _, _ := strings.Cut(f.target, "-")
		late := a.latest(f.at, f.at.Add(f.lasted+after))
		kinds[f.kind+" "+target] = append(kinds[f.kind+" "+target], late)
		if len(faults) < manyFaults {
			t.Logf("%s %-6s %-10s for %6s; fires until %s later were committed at most %s late",
				f.at.UTC().Format("15:04:05"), f.kind, f.target, f.lasted.Round(100*time.Millisecond), after, late)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		late := kinds[kind]
		slices.Sort(late)
		t.Logf("%-15s %3d times; latest commit of fires until %s later: median %s, most %s",
			kind, len(late), after, late[len(late)/2], late[len(late)-1])
	}
}

// latest returns how late the latest commit was of the fires in a time.
func (a *audit) latest(from, to time.Time) time.Duration {
	var worst time.Duration
	for i := range a.runs {
		if r := &a.runs[i]; r.Attempt == 1 && fired(r) && r.FireTime.After(from) && r.FireTime.Before(to) {
			worst = max(worst, r.CommittedAt.Sub(r.FireTime))
		}
	}
	return worst
}
