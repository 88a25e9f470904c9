package shard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// mapped has a step done in pieces.
func mapped(m job.Map) func(*job.Step) { return func(s *job.Step) { s.Map = &m } }

// over has a step done once for each element of a list.
func over(list string, atOnce int) func(*job.Step) {
	return mapped(job.Map{Over: list, AtOnce: atOnce})
}

// pieceEnds has a piece of a step end that an executor has.
func (f *flow) pieceEnds(step string, index int, s job.Status, result string) {
	f.t.Helper()
	t := f.pieces[fmt.Sprint(step, index)]
	if t == nil {
		f.t.Fatalf("piece %d of step %s is not with an executor", index, step)
	}
	delete(f.pieces, fmt.Sprint(step, index))
	e := bus.EventOf(t, bus.EventFinished, noon.Add(f.now))
	e.Status, e.Result = s, json.RawMessage(result)
	f.tell(e)
}

// wantPieces checks which pieces of a step are with executors, each with its item behind a colon.
func (f *flow) wantPieces(step string, want ...string) {
	f.t.Helper()
	var got []string
	for i := range bus.MaxPieces {
		if t := f.pieces[fmt.Sprint(step, i)]; t != nil {
			got = append(got, fmt.Sprintf("%d:%s", i, t.Item))
		}
	}
	f.want(got, want...)
}

func TestAStepIsDoneOnceForEachElementOfAList(t *testing.T) {
	f := newFlow(t,
		after("list"),
		with(with(after("load", "list"), over("${results.list.files}", 2)), func(s *job.Step) { s.SucceedsIf = 60 }),
		with(after("sum", "load"), params(`{"parts":"${results.load}"}`)))
	f.fire()
	run := f.out["list"].ParentRun
	f.ends("list", job.StatusSucceeded, `{"files":["a",{"b":9007199254740993},3]}`)
	f.wantPieces("load", `0:"a"`, `1:{"b":9007199254740993}`)
	first := f.pieces["load0"]
	if first.RunID != job.StepRunID(run, "load") || first.ParentRun != run || first.Total != 3 || first.Cause != job.CauseStep || first.Map.Over != "" {
		t.Errorf("the trigger of a piece is %+v", first)
	}
	f.pieceEnds("load", 0, job.StatusFailed, ``)
	f.wantPieces("load", `1:{"b":9007199254740993}`, `2:3`)
	f.succeed()
	third := f.pieces["load2"]
	f.pieceEnds("load", 2, job.StatusSucceeded, `{"rows":2}`)
	f.succeed()
	f.pieces["load2"] = third
	f.pieceEnds("load", 2, job.StatusFailed, ``) // an executor had it once more
	f.pieceEnds("load", 1, job.StatusSucceeded, `1`)
	f.wantSaid(`load succeeded: 2 of 3 pieces succeeded; 1 failed; 60% have to`)
	f.wantParams("sum", `{"parts":[null,1,{"rows":2}]}`)
	f.ends("sum", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded`)
	f.wantOver()
}

func TestAStepWithNoElementsHasNothingToDo(t *testing.T) {
	f := newFlow(t,
		with(after("load"), over("${params.files}", 0)),
		with(after("maybe"), over("${params.gone?}", 0)),
		with(after("sum", "load", "maybe"), params(`"${results.load}"`)))
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"files":[]}`) })
	f.wantSaid(`load succeeded: its list is empty, so there was nothing to do`, `maybe succeeded: its list is empty, so there was nothing to do`)
	f.wantParams("sum", `[]`)
	f.ends("sum", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded`)
	f.wantOver()
}

func TestAStepFailsWhoseListIsNone(t *testing.T) {
	f := newFlow(t,
		with(after("a"), over("${params.x}", 0)),
		with(after("b"), over("${params.gone}", 0)),
		with(after("c"), over("${params.many}", 0)),
		with(after("d"), over("${params.null}", 0)))
	many := `[0` + strings.Repeat(",0", bus.MaxPieces) + `]`
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"x":{},"null":null,"many":` + many + `}`) })
	f.wantSaid(
		`a failed: params.x is no list, of which each element would be a piece`,
		`b failed: its list cannot be computed: params has no field gone; it has many, null, x`,
		`c failed: its list has 10001 elements; at most 10000 are done`,
		`d failed: params.null is no list, of which each element would be a piece`,
		`run failed: 4 of 4 steps ended badly: a, b, c, d`)
	f.wantOver()
}

func TestOnlyTheBadPiecesOfAStepAreTriedAgain(t *testing.T) {
	f := newFlow(t, with(with(after("load"), mapped(job.Map{Pieces: 3})), func(s *job.Step) {
		s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)}
	}), after("next", "load"))
	f.fire(func(v *job.Version) { v.AtOnce = 1 })
	f.pieceEnds("load", 0, job.StatusSucceeded, ``)
	f.pieceEnds("load", 1, job.StatusFailed, ``)
	f.pieceEnds("load", 2, job.StatusSucceeded, ``)
	f.wantSaid(`load failed: 2 of 3 pieces succeeded; 1 failed`,
		`load queued: 1 piece of 3 did not succeed; attempt 2 repeats 1 of them 1m later`)
	f.succeed()
	f.now += 2 * time.Minute
	f.goOn()
	f.wantPieces("load", `1:`)
	if n := f.pieces["load1"].Attempt; n != 2 {
		t.Errorf("it is attempt %d", n)
	}
	f.pieceEnds("load", 1, job.StatusSucceeded, ``)
	f.wantSaid(`load succeeded`)
	f.wantOut("next")
}

func TestAStepCanListItsPiecesItself(t *testing.T) {
	f := newFlow(t, with(after("load"), mapped(job.Map{Split: true})), with(after("none"), mapped(job.Map{Split: true})),
		with(after("sum", "load", "none"), params(`["${results.load}","${results.none}"]`)))
	f.fire()
	if !f.out["load"].Split {
		t.Error("the first attempt is not asked for a list")
	}
	f.ends("none", job.StatusSucceeded, `[]`)
	f.succeed()
	f.ends("load", job.StatusSucceeded, `["x","y"]`)
	f.wantPieces("load", `0:"x"`, `1:"y"`)
	f.pieceEnds("load", 0, job.StatusSucceeded, ``)
	f.pieceEnds("load", 1, job.StatusSucceeded, ``)
	f.wantParams("sum", `[[null,null],[]]`)
}

func TestEachInstanceDoesAPieceOfAStepThatIsBroadcast(t *testing.T) {
	f := newFlow(t, with(after("all"), func(s *job.Step) { s.Route, s.AtOnce, s.Task = job.RouteBroadcast, 1, job.Task{Shell: "x"} }))
	f.fire()
	f.wantSaid(`all queued: it waits until an instance of executor group g is online that does such tasks`)
	f.m.PutInstances("g", instancesOf("i", "k"))
	f.goOn()
	f.wantSaid(`all pending: it waited 0s for an instance`)
	f.wantPieces("all", `0:`)
	f.pieceEnds("all", 0, job.StatusSucceeded, ``)
	if got := f.pieces["all1"].Prefer; got != "k" {
		t.Errorf("piece 1 is for %s", got)
	}
	f.pieceEnds("all", 1, job.StatusSucceeded, ``)
	f.wantSaid(`all succeeded`, `run succeeded`)
	f.wantOver()
}

func TestAStepFailsWhosePiecesReturnMoreThanIsKept(t *testing.T) {
	f := newFlow(t, with(after("a"), mapped(job.Map{Pieces: 2})), with(after("b", "a"), params(`"${results.a}"`)), with(after("c"), mapped(job.Map{Pieces: 2})))
	f.fire()
	half := `"` + strings.Repeat("x", bus.MaxResults/2) + `"`
	for _, step := range []string{"a", "c"} { // nobody asks for that of c
		f.pieceEnds(step, 0, job.StatusSucceeded, half)
		f.succeed()
		f.pieceEnds(step, 1, job.StatusSucceeded, half)
	}
	f.wantSaid(`a failed: other steps refer to its result, and its pieces have returned more than 65536 bytes`,
		`b skipped: it runs on success of step a, which ended as failed`, `c succeeded`, `run failed: 1 of 3 steps ended badly: a`)
	f.wantOver()
}

func TestACancelEndsThePiecesOfSteps(t *testing.T) {
	f := newFlow(t, with(after("a"), mapped(job.Map{Pieces: 3, AtOnce: 2})), with(after("b"), mapped(job.Map{Pieces: 2})),
		with(after("c"), func(s *job.Step) { s.Finally = true }))
	f.fire()
	run := f.pieces["a0"].ParentRun
	f.m.Cancels.Add(f.pieces["b0"].RunID, "not this", false)
	f.goOn()
	f.wantSaid("b killed: not this")
	f.pieceEnds("b", 0, job.StatusCancelled, ``)
	f.pieceEnds("b", 1, job.StatusCancelled, ``)
	f.wantSaid("b cancelled: not this; 0 of 2 pieces succeeded; 2 cancelled")
	f.pieceEnds("a", 0, job.StatusSucceeded, ``)
	f.m.Cancels.Add(run, "enough", false)
	f.goOn()
	f.wantSaid("a killed: enough")
	f.succeed()
	f.wantSaid("a killed: enough")
	f.wantPieces("a", "1:", "2:")
	f.pieceEnds("a", 1, job.StatusSucceeded, ``)
	f.pieceEnds("a", 2, job.StatusCancelled, ``)
	f.wantSaid("a cancelled: enough; 2 of 3 pieces succeeded; 1 cancelled")
	f.ends("c", job.StatusSucceeded, ``)
	f.wantSaid("run cancelled: enough")
	f.wantOver()
}

func TestAFailureStopsThePiecesOfOtherSteps(t *testing.T) {
	f := newFlow(t, with(after("a"), mapped(job.Map{Pieces: 2, AtOnce: 1})), after("b"))
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureCancels })
	f.ends("b", job.StatusFailed, ``)
	why := "step b ended badly, after which no further step begins"
	f.wantSaid("a killed: " + why)
	f.pieceEnds("a", 0, job.StatusCancelled, ``)
	f.wantSaid("a cancelled: "+why+"; 0 of 2 pieces succeeded; 2 cancelled", "run failed: 1 of 2 steps ended badly: b")
	f.wantOver()
}

func TestARunThatTakesTooLongEndsThePiecesOfItsSteps(t *testing.T) {
	f := newFlow(t, with(after("a"), mapped(job.Map{Pieces: 3, AtOnce: 1})))
	f.fire(func(v *job.Version) { v.TotalTimeout = job.Duration(time.Minute) })
	f.now += time.Minute
	f.goOn()
	f.wantSaid("a killed: the run took longer than 1m")
	f.pieceEnds("a", 0, job.StatusTimedOut, ``)
	f.wantSaid("a cancelled: the run took longer than 1m; 0 of 3 pieces succeeded; 3 timed out", "run timed_out: the run took longer than 1m")
	f.wantOver()
}

func TestPiecesOfAStepThatDoNotBeginInTimeAreMissed(t *testing.T) {
	f := newFlow(t, with(with(after("a"), mapped(job.Map{Pieces: 2})), func(s *job.Step) { s.StartWithin = job.Duration(time.Minute) }))
	f.fire()
	f.tell(bus.EventOf(f.pieces["a1"], bus.EventStarted, noon.Add(f.now)))
	f.succeed()
	f.now += 2 * time.Minute
	f.goOn()
	f.pieceEnds("a", 1, job.StatusSucceeded, ``)
	f.wantSaid("a failed: 1 of 2 pieces succeeded; 1 did not begin in time", "run failed: 1 of 1 step ended badly: a")
	f.wantOver()
}

func TestARetriedStepDoesAllItsPiecesAgain(t *testing.T) {
	f := newFlow(t, after("list"), with(after("load", "list"), over("${results.list}", 0)), after("other"))
	f.fire()
	f.ends("list", job.StatusSucceeded, `["x","y"]`)
	first := f.pieces["load0"]
	f.pieceEnds("load", 0, job.StatusSucceeded, ``)
	f.pieceEnds("load", 1, job.StatusFailed, ``)
	f.said = nil
	r := bus.RecoverRequest{ID: job.RetryRunID(first.ParentRun, "1"), RunID: first.ParentRun, Job: "g/a", Step: "load", By: "ann"}
	if _, err := f.m.Requests.Recover(r); err != nil {
		t.Fatal(err)
	}
	f.goOn()
	f.wantSaid("load queued: retried by ann")
	f.wantPieces("load", `0:"x"`, `1:"y"`)
	if got := f.pieces["load0"].RunID; got != job.RoundRunID(first.ParentRun, "load", 2) {
		t.Errorf("the second round has the run %s", got)
	}
	again := bus.EventOf(first, bus.EventFinished, noon.Add(f.now)) // of the first round, once more
	again.Status = job.StatusFailed
	f.tell(again)
	f.pieceEnds("load", 0, job.StatusSucceeded, ``)
	f.pieceEnds("load", 1, job.StatusSucceeded, ``)
	f.wantSaid("load succeeded")
}

func TestPiecesOfStepsWaitForRoomAndForDeletedJobs(t *testing.T) {
	f := newFlow(t, with(after("a"), mapped(job.Map{Pieces: 3, AtOnce: 1})))
	f.fire()
	f.m.PutRoom(&Room{Full: map[string]bool{"g": true}}, 0)
	f.pieceEnds("a", 0, job.StatusSucceeded, ``)
	f.wantPieces("a")
	f.m.PutRoom(nil, 0)
	f.goOn()
	f.wantPieces("a", "1:")
	bytes := map[string]int64{}
	f.m.Waiting(bytes)
	if bytes["g"] == 0 {
		t.Error("it takes no room")
	}
	if out := f.m.Out(1 << 62); len(out) != 1 || out[0].Index != 1 || out[0].Total != 3 || out[0].Step != "a" {
		t.Errorf("%+v is out", out)
	}
	kept := 0
	for _, d := range f.trig.deferred {
		if d.Kind == journal.DeferredPieces {
			kept++
		}
	}
	if kept == 0 {
		t.Error("no item says how far the step is")
	}
}
