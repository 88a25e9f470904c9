package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// history returns the runs of a job, one a minute, that ended as the letters say: ok, failed,
// timed out, missed, each after the given length.
func history(name job.Name, ends string, took time.Duration) []Ran {
	words := map[rune]job.Status{'o': job.StatusSucceeded, 'f': job.StatusFailed, 't': job.StatusTimedOut, 'm': job.StatusMissed}
	runs := make([]Ran, 0, len(ends))
	for i, end := range ends {
		at := time.Date(2026, 3, 1, 12, i, 0, 0, time.UTC)
		r := Ran{RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Status: words[end], FireTime: at, FinishedAt: at}
		if end != 'm' {
			r.StartedAt, r.FinishedAt = at.Add(2*time.Second), at.Add(2*time.Second+took)
		}
		runs = append(runs, r)
	}
	return runs
}

func TestARuleIsPlayedBackAsItWouldHaveBeenThere(t *testing.T) {
	f := func(when alerting.Condition, by alerting.GroupBy, runs []Ran, want ...string) {
		t.Helper()
		rule := alerting.Rule{Alert: "a", When: when, GroupBy: by, Match: alerting.Match{Groups: []string{"g"}}, Channels: []string{}}
		found, err := Try(rule, runs, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, inc := range found {
			end := "open"
			if !inc.ResolvedAt.IsZero() {
				end = inc.ResolvedAt.Format("04:05")
			}
			got = append(got, fmt.Sprintf("%s %d from %s to %s: %s", inc.Subject, inc.Count, inc.OpenedAt.Format("04:05"), end, inc.Summary))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v: %s", when, d)
		}
	}
	f(alerting.Condition{}, alerting.ByJob, history("g/x", "offomt", time.Second),
		"job g/x 2 from 01:03 to 03:03: g/x failed", "job g/x 2 from 04:00 to open: g/x timed out")
	f(alerting.Condition{InARow: 3}, alerting.ByJob, history("g/x", "ffoffff", time.Second), "job g/x 4 from 05:03 to open: g/x failed, 4 times in a row")
	f(alerting.Condition{InARow: 2}, alerting.ByGroup, append(history("g/x", "ffoff", time.Second), history("g/y", "fffff", time.Second)...),
		"group g 9 from 01:03 to open: g/y failed, 5 times in a row, and 1 other job")
	f(alerting.Condition{}, alerting.ByJob, history("other/x", "fff", time.Second))
	f(alerting.Condition{}, alerting.ByGroup, append(history("g/x", "fo", time.Second), history("g/y", "ff", time.Second)...),
		"group g 3 from 00:03 to open: g/y failed, and 1 other job")
	f(alerting.Condition{StartsWithin: job.Duration(time.Second)}, alerting.ByJob, history("g/x", "om", time.Second), "job g/x 1 from 00:01 to 00:02: g/x did not start within 1s")
	f(alerting.Condition{EndsWithin: job.Duration(30 * time.Second)}, alerting.ByJob, history("g/x", "f", time.Minute), "job g/x 1 from 00:30 to open: g/x failed")
	f(alerting.Condition{EndsWithin: job.Duration(30 * time.Second)}, alerting.ByJob, history("g/x", "o", time.Minute), "job g/x 1 from 00:30 to 01:02: g/x did not end within 30s")
	slow := append(history("g/x", strings.Repeat("o", 20), time.Second), history("g/x", strings.Repeat("o", 21), 3*time.Second)[20:]...)
	f(alerting.Condition{Slower: 2}, alerting.ByJob, slow, "job g/x 1 from 20:05 to open: g/x took 3s, longer than usual: 95 % of its runs take 1s at most")
	loop := history("g/x", "ooooo", time.Second)
	for i := 1; i < 4; i++ {
		loop[i].Unasked = true
	}
	f(alerting.Condition{Unasked: 3}, alerting.ByJob, loop, "job g/x 1 from 03:03 to open: pings reported 3 runs of g/x within an hour that no fire asked for")
}

func TestARuleOfWhichTheHistoryKnowsNothingIsNotPlayedBack(t *testing.T) {
	_, err := Try(alerting.Rule{Alert: "a", When: alerting.Condition{StreamFull: 80}, Channels: []string{}}, nil, nil)
	if problems := job.Problems(err); len(problems) != 1 || problems[0].Field != "when" {
		t.Error(err)
	}
}
