package workflow_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job/workflow"
)

const nightly = `
	login always
	extract login
	clean extract
	enrich extract
	load clean,enrich
	report load
	tidy finally`

func TestARunThatRepeatsAnotherTakesOverWhatWentWell(t *testing.T) {
	g := graph(t, nightly)
	begins := func(what string, got []workflow.State, want string) {
		t.Helper()
		if string(got) != want {
			t.Errorf("%s begins as %s, want %s", what, got, want)
		}
	}
	failed := []workflow.State("sssfkks")
	begins("what failed", g.WhatFailed(failed), ".SS....")
	begins("what failed of what all went well", g.WhatFailed([]workflow.State("sssssss")), "SSSSSS.")
	begins("what failed of a run that took over", g.WhatFailed([]workflow.State("sSSfkks")), ".SS....")
	begins("from clean", g.From([]workflow.State("sssssss"), []int{2}), ".S.S...")
	begins("from clean, though enrich failed", g.From(failed, []int{2}), ".S.....")
	begins("from the first", g.From(failed, []int{0}), ".......")

	// A success after a failure is decided again with it. A success after a skip is taken over.
	handled := graph(t, "a\nb a:failure\nc b\nd a")
	begins("a handled failure", handled.WhatFailed([]workflow.State("fssk")), "....")
	begins("a branch", graph(t, "a\nb a\nc taken a,b").WhatFailed([]workflow.State("sks")), "S.S")
}

func TestAStepThatIsTriedAgainTakesItsDescendantsAlong(t *testing.T) {
	g := graph(t, nightly)
	states := []workflow.State("sssfkks")
	reset, _, ok := g.Reset(3, nil, states)
	if !ok || string(states) != "sssf..." || len(reset) != 3 {
		t.Errorf("%v are reset, %t; the states are %s", reset, ok, states)
	}
	states = []workflow.State("sssfkkt")
	if _, busy, ok := g.Reset(3, nil, states); ok || busy != 6 || string(states) != "sssfkkt" {
		t.Errorf("a busy descendant is %d, %t; the states are %s", busy, ok, states)
	}
	states = []workflow.State("sssssff")
	if reset, _, ok := g.Reset(6, nil, states); !ok || len(reset) != 0 || string(states) != "sssssff" {
		t.Errorf("%v are reset with a finally step; the states are %s", reset, states)
	}
	states = []workflow.State("sssfcks")
	if reset, _, ok := g.Reset(3, []int{4}, states); !ok || string(states) != "sssf..." || len(reset) != 3 {
		t.Errorf("%v are reset with a cancelled step; the states are %s", reset, states)
	}
	wide := graph(t, "a\nb\nc b")
	states = []workflow.State("fcc")
	if reset, _, ok := wide.Reset(0, []int{1, 2}, states); !ok || string(states) != "f.." || len(reset) != 2 {
		t.Errorf("%v are reset beside a step; the states are %s", reset, states)
	}
	several := graph(t, "work\ntidy finally\nreport tidy finally\nnotify finally")
	states = []workflow.State("sfss")
	if reset, _, ok := several.Reset(1, nil, states); !ok || len(reset) != 1 || string(states) != "sf.s" {
		t.Errorf("%v are reset with one of several finally steps; the states are %s", reset, states)
	}
}
