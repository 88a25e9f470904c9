package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

var noonThere = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

func fires(v job.Version) []string {
	list := []string{}
	for _, s := range v.Skips {
		list = append(list, s.FireTime.Format("15:04"))
	}
	return list
}

func TestSkipsAreKeptInOrderAndShareNoMemory(t *testing.T) {
	at := func(minute int) job.Skip {
		return job.Skip{FireTime: noonThere.Add(time.Duration(minute) * time.Minute)}
	}
	var v job.Version
	for _, minute := range []int{3, 1, 2, 3} {
		v.Skip(at(minute))
	}
	next := v
	next.TakeBack(noonThere.Add(2 * time.Minute))
	next.TakeBack(noonThere.Add(9 * time.Minute))
	if diff := cmp.Diff([]string{"12:01", "12:02", "12:03"}, fires(v)); diff != "" {
		t.Errorf("the version before (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"12:01", "12:03"}, fires(next)); diff != "" {
		t.Errorf("the version after (-want +got):\n%s", diff)
	}
	next.EffectiveFrom = noonThere.Add(time.Minute)
	next.ForgetSkips()
	if diff := cmp.Diff([]string{"12:03"}, fires(next)); diff != "" {
		t.Errorf("what is ahead (-want +got):\n%s", diff)
	}
	next.EffectiveFrom = noonThere.Add(time.Hour)
	if next.ForgetSkips(); next.Skips != nil {
		t.Errorf("skips of the past are kept: %v", next.Skips)
	}
}

func TestASkipSaysWhoAndWhy(t *testing.T) {
	for want, s := range map[string]job.Skip{
		"skipped by somebody":                        {},
		"skipped by ada: no need":                    {By: "ada", Reason: "no need"},
		"ada asked for it early, as run x: no power": {By: "ada", Reason: "no power", RunID: "x"},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAPauseUntilEndsAtItsInstant(t *testing.T) {
	j := job.Job{PausedUntil: &noonThere}
	if !j.PausedAt(noonThere.Add(-time.Millisecond)) || j.PausedAt(noonThere) {
		t.Error("it is not paused before, or is still then")
	}
	if j = (job.Job{Paused: true}); !j.PausedAt(noonThere) {
		t.Error("a pause without an end has ended")
	}
}

func TestAPauseEitherEndsOrDoesNot(t *testing.T) {
	_, err := job.Decode([]byte(`{"job":"g/a","task":{"handler":"h"},"paused":true,"paused_until":"2026-03-02T12:00:00Z"}`))
	if problems := job.Problems(err); len(problems) != 1 || problems[0].Field != "paused_until" {
		t.Errorf("both: %v", err)
	}
}

func TestOnlyFiresOfTheScheduleCanBeCalledOff(t *testing.T) {
	j := job.Job{Job: "g/a", Schedule: job.Schedule{Cron: "0 * * * *", Spread: job.Duration(time.Hour)}}.WithDefaults()
	if err := j.CheckSkip(noonThere); err != nil {
		t.Error(err)
	}
	if err := j.CheckSkip(noonThere.Add(time.Minute)); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("no fire: %v", err)
	}
	j.Schedule = job.Schedule{FixedDelay: job.Duration(time.Minute)}
	if err := j.CheckSkip(noonThere); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("a fixed delay: %v", err)
	}
}
