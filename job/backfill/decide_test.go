package backfill

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// bulk returns a backfill of so many jobs with ten fires each.
func bulk(jobs, atOnce int) *Bulk {
	b := &Bulk{
		ID: "b1", Name: "nightly", From: noon.Add(-24 * time.Hour), To: noon, Only: outcome.OnlyMissed, AtOnce: atOnce, CreatedAt: noon,
		Events: []Event{{At: noon, By: "ann", Act: Created}},
	}
	for i := range jobs {
		b.Jobs = append(b.Jobs, Part{Job: job.Name(fmt.Sprintf("g/%c", 'a'+i)), State: Waiting, Fires: 10, Round: 1})
	}
	return b
}

// says checks how the jobs stand: state, round and, while it works, how many runs may be alive.
func (b *Bulk) says(t *testing.T, want ...string) {
	t.Helper()
	if err := b.Validate(); err != nil {
		t.Error(err)
	}
	var got []string
	for i := range b.Jobs {
		p := &b.Jobs[i]
		line := fmt.Sprintf("%s %d", p.State, p.Round)
		if p.AtWork() {
			line += fmt.Sprintf(" %d", p.AtOnce)
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

func (b *Bulk) did(t *testing.T, changed bool, err error) {
	t.Helper()
	if !changed || err != nil {
		t.Fatal(changed, err)
	}
}

func TestAllJobsTogetherHaveAsManyRunsAsOneMayHave(t *testing.T) {
	f := func(jobs, atOnce int, want ...string) {
		t.Helper()
		b := bulk(jobs, atOnce)
		b.Begin(noon)
		b.says(t, want...)
	}
	f(3, 2, "working 1 1", "working 1 1", "waiting 1")
	f(3, 8, "working 1 2", "working 1 3", "working 1 3")
	f(1, 5, "working 1 5")
}

func TestTheNextJobBeginsWhenOneIsDone(t *testing.T) {
	b := bulk(3, 2)
	b.Begin(noon)
	b.Settle(0, Made{10, 9, 1}, "", noon)
	b.Begin(noon)
	b.says(t, "done 1", "working 1 1", "working 1 1")
	b.Refuse(1, "why", noon)
	b.Settle(2, Made{9, 9, 0}, "", noon.Add(time.Hour))
	b.says(t, "done 1", "refused 1", "done 1")
	if !b.EndedAt.Equal(noon.Add(time.Hour)) || b.Jobs[2].Fires != 9 || b.Events[1].Act != Ended {
		t.Errorf("%+v", b)
	}
}

func TestAPausedBackfillGoesOnInAnotherRound(t *testing.T) {
	b := bulk(3, 2)
	b.Begin(noon)
	changed, err := b.Pause(Event{At: noon, By: "bob"})
	b.did(t, changed, err)
	if b.says(t, "stopping 1 1", "stopping 1 1", "waiting 1"); b.Begin(noon) {
		t.Error("a paused backfill begins")
	}
	if again, err := b.Pause(Event{At: noon}); again || err != nil {
		t.Error(again, err)
	}
	b.Settle(0, Made{4, 4, 0}, "paused by bob", noon)
	b.Settle(1, Made{10, 10, 0}, "", noon) // all its runs had begun
	changed, err = b.Resume(Event{At: noon, By: "bob"})
	b.did(t, changed, err)
	b.Begin(noon)
	b.says(t, "working 2 1", "done 1", "working 1 1")
	if got := b.RoundIDs(2); !slices.Equal(got, []string{"b1-1", "b1-2"}) {
		t.Error(got)
	}
}

func TestAResumedJobStopsBeforeItGoesOn(t *testing.T) {
	b := bulk(1, 1)
	b.Begin(noon)
	changed, err := b.Pause(Event{At: noon})
	b.did(t, changed, err)
	changed, err = b.Resume(Event{At: noon})
	b.did(t, changed, err)
	b.Begin(noon)
	b.says(t, "stopping 1 1")
	b.Settle(0, Made{4, 4, 0}, "paused", noon)
	b.Begin(noon)
	b.says(t, "working 2 1")
}

func TestACancelledBackfillEndsWithItsRuns(t *testing.T) {
	b := bulk(2, 1)
	b.Begin(noon)
	changed, err := b.Cancel(Event{At: noon, By: "bob", Note: "enough"})
	b.did(t, changed, err)
	if b.says(t, "stopping 1 1", "cancelled 1"); !b.EndedAt.IsZero() {
		t.Error("it has ended before its runs")
	}
	b.Settle(0, Made{1, 1, 0}, "cancelled by bob", noon)
	b.says(t, "cancelled 1", "cancelled 1")
	for name, act := range map[string]func(Event) (bool, error){"pause": b.Pause, "resume": b.Resume, "cancel": b.Cancel, "retry": b.Retry} {
		if _, err := act(Event{At: noon}); !errors.Is(err, job.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFailedRunsRunAgain(t *testing.T) {
	b := bulk(3, 3)
	b.Begin(noon)
	b.Settle(0, Made{10, 10, 0}, "", noon)
	if _, err := b.Retry(Event{At: noon}); !errors.Is(err, job.ErrConflict) {
		t.Error(err)
	}
	b.Settle(1, Made{10, 8, 2}, "", noon)
	b.Refuse(2, "the job is gone", noon)
	changed, err := b.Retry(Event{At: noon, By: "bob"})
	b.did(t, changed, err)
	b.Begin(noon)
	b.says(t, "done 1", "working 2 1", "working 2 2")
	if !b.EndedAt.IsZero() || !b.Jobs[1].Retry || b.Jobs[2].Retry {
		t.Errorf("%+v", b)
	}
}

func TestThereIsAlwaysRoomToCancel(t *testing.T) {
	b := bulk(1, 1)
	var err error
	for err == nil {
		if _, err = b.Pause(Event{At: noon}); err == nil {
			_, err = b.Resume(Event{At: noon})
		}
	}
	if !errors.Is(err, job.ErrConflict) || len(b.Events) != MaxEvents-1 {
		t.Fatal(len(b.Events), err)
	}
	changed, err := b.Cancel(Event{At: noon})
	b.did(t, changed, err)
	b.says(t, "cancelled 1")
}

func TestADocumentOfTheBusIsChecked(t *testing.T) {
	f := func(field string, change func(*Bulk)) {
		t.Helper()
		b := bulk(2, 2)
		change(b)
		if err := b.Validate(); err == nil || !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	f("id", func(b *Bulk) { b.ID = strings.Repeat("a", MaxID+1) })
	f("id", func(b *Bulk) { b.ID = "A" })
	f("name", func(b *Bulk) { b.Name = "" })
	f("name", func(b *Bulk) { b.Name = strings.Repeat("补", MaxName+1) })
	f("to", func(b *Bulk) { b.To = b.From })
	f("only", func(b *Bulk) { b.Only = "some" })
	f("at_once", func(b *Bulk) { b.AtOnce = MaxAtOnce + 1 })
	f("jobs", func(b *Bulk) { b.Jobs = nil })
	f("jobs[1]", func(b *Bulk) { b.Jobs[1].Job = "g/a" })
	f("jobs[0]", func(b *Bulk) { b.Jobs[0].Job = "none" })
	f("jobs[0]", func(b *Bulk) { b.Jobs[0].State = "lost" })
	f("jobs[0]", func(b *Bulk) { b.Jobs[0].Round = 0 })
	f("events", func(b *Bulk) { b.Events[0].Act = "sung" })
	f("events", func(b *Bulk) { b.Events = make([]Event, MaxEvents+2) })
}
