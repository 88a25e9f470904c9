package job_test

import (
	"encoding/json"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAShareOfPiecesIsRoundedUpAndWrittenAsItIsRead(t *testing.T) {
	of := func(text string, total, want int) {
		t.Helper()
		var s job.Share
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.Of(total); got != want {
			t.Errorf("%s of %d pieces are %d; want %d", text, total, got, want)
		}
		back, err := json.Marshal(s)
		if err != nil || string(back) != text && text != `"100%"` {
			t.Errorf("%s is written as %s, %v", text, back, err)
		}
	}
	of(`"all"`, 7, 7)
	of(`"100%"`, 7, 7)
	of(`"80%"`, 10, 8)
	of(`"80%"`, 11, 9)
	of(`"1%"`, 7, 1)
	of(`"99%"`, 100, 99)
	of(`"99%"`, 10_000, 9900)
}

func TestJobsWhoseRunsAreDoneInPiecesAreWatched(t *testing.T) {
	watched := func(text string, want bool) {
		t.Helper()
		j, err := job.Decode([]byte(`{"job":"g/a","task":{"handler":"h"}` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		r := job.ReactionsOf(&j)
		if r.Watched() != want || j.InPieces() != want {
			t.Errorf("%s: watched %v, in pieces %v; want %v", text, r.Watched(), j.InPieces(), want)
		}
	}
	watched(``, false)
	watched(`,"route":"first"`, false)
	watched(`,"route":"broadcast","succeeds_if":"50%"`, true)
	watched(`,"map":{"pieces":2,"at_once":1}`, true)
	watched(`,"map":{"split":true}`, true)
}

func TestAtOnceOutsideOfAMapIsForBroadcasts(t *testing.T) {
	j := job.Job{Job: "g/a", Task: job.Task{Handler: "h"}, Route: job.RouteBroadcast, AtOnce: 3}
	if err := j.Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []job.Job{{AtOnce: 3}, {AtOnce: -1, Route: job.RouteBroadcast}, {AtOnce: job.MaxPieces + 1, Route: job.RouteBroadcast}, {AtOnce: 1, Map: &job.Map{Pieces: 2}}} {
		bad.Job, bad.Task = j.Job, j.Task
		problems := job.Problems(bad.Validate())
		if len(problems) != 1 || problems[0].Field != "at_once" {
			t.Errorf("%+v: %v", bad, problems)
		}
	}
}
