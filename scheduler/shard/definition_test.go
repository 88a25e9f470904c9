package shard

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// unreadable are workflows that no API of this program saves: those of something that checks less, or of a newer
// program with the format of this one.
var unreadable = map[string]func(v *job.Version){
	"lead in a circle": func(v *job.Version) { v.Steps = []job.Step{after("a", "b"), after("b", "a")} },
	"write success":    func(v *job.Version) { v.Steps = []job.Step{after("a"), after("b", "a:full_moon")} },
	"params.":          func(v *job.Version) { v.Steps = []job.Step{with(after("a"), params(`"${params.}"`))} },
	"workflow.moon":    func(v *job.Version) { v.Steps = []job.Step{after("a")}; v.Result = []byte(`"${workflow.moon}"`) },
}

func unreadableVersion(change func(*job.Version)) *job.Version {
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job = "g/a"
	change(v)
	v.Job = v.WithDefaults()
	return v
}

func TestAVersionWithAnUnreadableWorkflowIsHeld(t *testing.T) {
	for why, change := range unreadable {
		v := unreadableVersion(change)
		if _, err := Prepare(&job.Planner{}, v, 1); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the version is prepared: %v, want %s", err, why)
		}
	}
}

func TestARequestForAnUnreadableWorkflowIsRefused(t *testing.T) {
	for why, change := range unreadable {
		f := newFlow(t, after("a"))
		f.fire()
		r := bus.TriggerRequest{RunID: job.RetryRunID(f.out["a"].ParentRun, "k"), Job: "g/a", Cause: job.CauseRerun, RetryOf: f.out["a"].ParentRun, Version: 1, Body: bodyText(unreadableVersion(change))}
		if _, err := f.m.Requests.Submit(r); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("the request is taken: %v, want %s", err, why)
		}
	}
}

func TestARunOfAnUnreadableWorkflowIsLeftToOthers(t *testing.T) {
	for why, change := range unreadable {
		b := newBench(t)
		b.put(0, 1, func(v *job.Version) { v.Steps, v.Task = []job.Step{after("a")}, job.Task{} })
		of, err := encodeBody(new(journal.BodyOf(unreadableVersion(change))))
		if err != nil {
			t.Fatal(err)
		}
		trigger := &bus.Trigger{RunID: job.NewRunID(noon), Job: "g/a", Version: 1, Attempt: 1, Cause: job.CauseManual, FireTime: noon, CommittedAt: noon.Add(time.Second)}
		for _, kind := range []journal.DeferredKind{journal.DeferredQueued, journal.DeferredWorkflow} {
			d := &journal.Deferred{Kind: kind, Job: "g/a", Trigger: bus.AppendTrigger(nil, trigger, of.text)}
			if err := b.m.PutDeferred(d, b.m.LastItem()+1); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("a run in a %s item is taken over: %v, want %s", kind, err, why)
			}
		}
	}
}

func TestADefinitionIsReadOnceForRunsThatFollowEachOther(t *testing.T) {
	f := newFlow(t, after("a"))
	f.fire(func(v *job.Version) {
		v.Schedule.Once = nil
		every(time.Second, job.FireAll)(v)
	})
	of := func() *definition { return f.m.runs.byID[f.out["a"].ParentRun].steps.def }
	first := of()
	f.ends("a", job.StatusSucceeded, "")
	f.now += time.Second
	f.goOn()
	if of() != first {
		t.Error("it was read again")
	}
	f.ends("a", job.StatusSucceeded, "")
	f.wantOver()
}

func TestDefinitionsThatNoRunUsesAreKeptUpToABound(t *testing.T) {
	st := &steps{definitions: map[unique.Handle[body]]*definition{}}
	all := make([]unique.Handle[body], 4)
	for i := range all {
		all[i] = unique.Make(body{text: strings.Repeat(strconv.Itoa(i), maxIdle/2)})
		st.definitions[all[i]] = &definition{}
		st.rest(all[i])
		if _, err := st.definition(all[0]); err != nil { // which is used again
			t.Fatal(err)
		}
		st.rest(all[0])
	}
	if st.definitions[all[0]] == nil || st.definitions[all[3]] == nil || len(st.definitions) != 2 || len(st.idle) != 2 {
		t.Errorf("%d definitions are kept, %d of them idle", len(st.definitions), len(st.idle))
	}
}
