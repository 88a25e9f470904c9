package waits_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/waits"
)

var midnight = time.Date(2026, time.March, 5, 0, 0, 0, 0, time.UTC)

// hour is an instant of the day that is waited for.
func hour(n int) time.Time { return midnight.Add(time.Duration(n) * time.Hour) }

// fires returns a fire for each hour from the first on, by words such as "ok", "failed" or "skipped: why".
func fires(words ...string) (all []outcome.Entry) {
	for n, word := range words {
		e := outcome.Entry{FireTime: hour(n), RunID: job.FireRunID("etl/hour", hour(n).UnixMilli(), job.CauseSchedule), Outcome: outcome.Ran}
		what, why, _ := strings.Cut(word, ": ")
		e.Reason = reason.Text(why)
		switch what {
		case "ok":
			e.Status = job.StatusSucceeded
		case "late":
			e.Outcome, e.Status = outcome.CaughtUp, job.StatusSucceeded
		case "failed":
			e.Status = job.StatusFailed
		case "running":
			e.Outcome, e.Status = outcome.Pending, job.StatusRunning
		case "skipped":
			e.Outcome, e.Status = outcome.Skipped, job.StatusSkipped
		case "twice": // beside its own run it is one of several that share an outcome
			e.Outcome, e.Status = outcome.Discrepancy, job.StatusSucceeded
		default:
			e.Outcome = outcome.Outcome(what)
		}
		all = append(all, e)
	}
	return all
}

func TestAWaitIsMetOnceEnoughFiresHaveARunThatSucceeded(t *testing.T) {
	of := func(n int, format string) string { return fmt.Sprintf(format, hour(n).Format(time.RFC3339)) }
	excluded := "skipped: " + reason.CalendarExcludes.With("weekend")
	moved := "skipped: " + reason.Join(reason.CalendarExcludes.With("weekend"), reason.Shifts(true))
	paused := "skipped: " + reason.JobPaused.String()
	ahead := finding.AwaitedUntil.With("etl/hour", hour(24))
	for name, c := range map[string]struct {
		need    job.Need
		skipped string
		last    int
		fires   []string
		change  func(f *waits.Fires)
		met     bool
		have    string // how many of how many
		missing []string
	}{
		"all succeeded":                          {fires: []string{"ok", "late", "ok"}, met: true, have: "3 of 3"},
		"one failed":                             {fires: []string{"ok", "failed"}, have: "1 of 2", missing: []string{of(1, "the run of %s is failed")}},
		"one is running":                         {fires: []string{"running", "ok"}, have: "1 of 2", missing: []string{of(0, "the run of %s is running")}},
		"one was missed":                         {fires: []string{"missed", "ok"}, have: "1 of 2", missing: []string{of(0, "the fire of %s was missed")}},
		"one is to come":                         {fires: []string{"ok", "undecided: soon"}, have: "1 of 2", missing: []string{of(1, "the fire of %s is still to come")}},
		"nothing is known of one":                {fires: []string{"discrepancy: gone", "ok"}, have: "1 of 2", missing: []string{of(0, "of the fire of %s it is not known what became: gone")}},
		"the history does not have one":          {fires: []string{"unjudged: old", "ok"}, have: "1 of 2", missing: []string{of(0, "of the fire of %s it is not known what became: old")}},
		"one is recorded twice":                  {fires: []string{"twice"}, met: true, have: "1 of 1"},
		"a calendar excluded one":                {fires: []string{excluded, "ok"}, met: true, have: "1 of 1"},
		"one was moved to another day":           {fires: []string{moved, "ok"}, met: true, have: "1 of 1"},
		"one was skipped by a pause":             {fires: []string{paused, "ok"}, have: "1 of 2", missing: []string{of(0, "the fire of %s was skipped: the job is paused")}},
		"one was skipped, and that is fine":      {fires: []string{paused, "ok"}, skipped: job.SkippedOK, met: true, have: "2 of 2"},
		"one that failed was repeated":           {fires: []string{"failed", "ok"}, change: repeat(0), met: true, have: "2 of 2"},
		"one that was skipped was repeated":      {fires: []string{paused, "ok"}, change: repeat(0), met: true, have: "2 of 2"},
		"any is enough":                          {need: "any", fires: []string{"failed", "ok", "undecided"}, met: true, have: "1 of 3", missing: []string{of(0, "the run of %s is failed"), of(2, "the fire of %s is still to come")}},
		"any of none":                            {need: "any", have: "0 of 0"},
		"two are enough, before all are due":     {need: "2", fires: []string{"ok", "ok"}, change: early, met: true, have: "2 of 2"},
		"two are more than there are":            {need: "2", fires: []string{"ok"}, have: "1 of 1"},
		"80 % of five":                           {need: "80%", fires: []string{"ok", "ok", "ok", "ok", "failed"}, met: true, have: "4 of 5", missing: []string{of(4, "the run of %s is failed")}},
		"80 % of four":                           {need: "80%", fires: []string{"ok", "ok", "ok", "failed"}, have: "3 of 4", missing: []string{of(3, "the run of %s is failed")}},
		"all that are known, before the end":     {fires: []string{"ok", "ok"}, change: early, have: "2 of 2", missing: []string{ahead}},
		"none was owed":                          {fires: []string{excluded}, met: true, have: "0 of 0"},
		"none was owed before the end":           {change: early, have: "0 of 0", missing: []string{ahead}},
		"the last one":                           {last: 1, fires: []string{"failed", excluded, "ok", excluded}, met: true, have: "1 of 1"},
		"the last one failed":                    {last: 1, fires: []string{"ok", "failed"}, have: "0 of 1", missing: []string{of(1, "the run of %s is failed")}},
		"the last one of none":                   {last: 1, met: true, have: "0 of 0"},
		"the last three of two":                  {last: 3, fires: []string{"ok", "ok"}, met: true, have: "2 of 2"},
		"the last of fires that are not decided": {last: 1, fires: []string{"ok"}, change: early, have: "1 of 1", missing: []string{ahead}},
		"there is no such job":                   {change: func(f *waits.Fires) { f.Known = false }, have: "0 of 0", missing: []string{"there is no job etl/hour"}},
		"the job was deleted":                    {fires: []string{"ok", "failed"}, change: deleted, have: "1 of 2", missing: []string{of(1, "the run of %s is failed"), "job etl/hour was deleted"}},
		"the job was deleted after all ran":      {fires: []string{"ok", "ok"}, change: deleted, met: true, have: "2 of 2", missing: []string{"job etl/hour was deleted"}},
		"the job was deleted before any ran":     {change: deleted, have: "0 of 0", missing: []string{"job etl/hour was deleted"}},
		"there are too many":                     {fires: []string{"ok"}, change: func(f *waits.Fires) { f.TooMany = true }, have: "1 of 1", missing: []string{"there are more than 100000 fires, which is the most that a step can wait for"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &waits.Fires{Known: true, All: fires(c.fires...), Until: hour(24), Decided: hour(24)}
			if c.change != nil {
				c.change(f)
			}
			v := waits.Judge(&runlog.AwaitedRuns{Job: "etl/hour", Last: c.last, Need: c.need, Skipped: c.skipped}, f)
			if v.Met != c.met {
				t.Errorf("met is %v", v.Met)
			}
			if d := cmp.Diff(c.have, fmt.Sprintf("%d of %d", v.Have, v.Of)); d != "" {
				t.Error(d)
			}
			var missing []string
			for _, m := range v.Missing {
				if reason.Read(string(m)).Code == "" {
					t.Errorf("%q has no code", m)
				}
				missing = append(missing, string(m))
			}
			if d := cmp.Diff(c.missing, missing); d != "" {
				t.Error(d)
			}
			if len(v.Runs) != v.Have {
				t.Errorf("there are %d runs as evidence", len(v.Runs))
			}
		})
	}
}

func repeat(n int) func(f *waits.Fires) {
	return func(f *waits.Fires) { f.Repeats = map[int64]job.RunID{hour(n).UnixMilli(): "again"} }
}

func early(f *waits.Fires) { f.Decided = hour(2) }

func deleted(f *waits.Fires) { f.Deleted = true }

// What is said of many fires is bounded, and so is the result.
func TestAJudgementOfManyFiresIsShort(t *testing.T) {
	words := make([]string, 2000)
	for n := range words {
		words[n] = []string{"ok", "failed"}[n%2]
	}
	f := &waits.Fires{Known: true, All: fires(words...), Until: hour(2000), Decided: hour(2000)}
	v := waits.Judge(&runlog.AwaitedRuns{Job: "etl/hour"}, f)
	if n := len(v.Missing); n != waits.MaxMissing+1 || string(v.Missing[n-1]) != "950 further fires" {
		t.Errorf("%d are said to be missing, at last: %s", n, v.Missing[n-1])
	}
	result := v.Result()
	if n := len(result.Runs); result.Met != 1000 || result.Of != 2000 || n != waits.MaxRuns || !result.Runs[n-1].FireTime.Equal(hour(1998)) {
		t.Errorf("%d of %d, with %d runs", result.Met, result.Of, n)
	}
}
