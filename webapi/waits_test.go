package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// release returns the document of a job whose step ok waits for this approval, and paid for a signal.
func release(approval map[string]any) map[string]any {
	return map[string]any{"job": "deploy/release", "steps": []any{
		map[string]any{"step": "build", "task": map[string]any{"shell": "true"}},
		map[string]any{"step": "ok", "title": "Release it?", "after": "build", "wait": map[string]any{"approval": approval, "expires": "8h"}},
		map[string]any{"step": "paid", "after": "build", "wait": map[string]any{"signal": "paid", "key": "${params.order}"}},
	}}
}

// waiting returns the record of a step's run that begins to wait.
func waiting(run logstore.Update, step string, wait *runlog.Wait) logstore.Update {
	u := stepOf(run, step, 1, run.At)
	u.Status, u.Wait = job.StatusQueued, wait
	return u
}

// judges has the owners of shards answer requests about waits as long as they are valid, and returns what they were asked.
func (w *world) judges(answer func(bus.WaitRequest) (bus.TriggerReply, error)) *[]bus.WaitRequest {
	w.Helper()
	asked := &[]bus.WaitRequest{}
	owner(w, bus.VerbWait, func(r bus.WaitRequest) (bus.TriggerReply, error) {
		*asked = append(*asked, r)
		if err := r.Validate(); err != nil {
			return bus.TriggerReply{}, err
		}
		return answer(r)
	})
	return asked
}

func (b *browser) token(access rights.Access, only ...rights.Scope) []header {
	b.Helper()
	made, _ := want[NewToken](b.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": "t", "access": rights.List{access}, "only": append([]rights.Scope{}, only...)}, b.headers()...)
	return []header{{"Authorization", "Bearer " + made.Secret}}
}

func TestAStepIsApprovedByWhomItNames(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	in := func(role rights.Role, group string) rights.Access { return rights.Access{Role: role, Group: group} }
	operator, editor, named := ann.person("operator", in(rights.Operator, "deploy")), ann.person("editor", in(rights.Editor, "deploy")), ann.person("named", in(rights.Viewer, "deploy"))
	viewer, foreign := ann.person("viewer", in(rights.Viewer, "deploy")), ann.person("foreign", in(rights.Admin, "ops"))
	asked := g.judges(func(r bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: r.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil
	})
	for i, c := range []struct {
		name     string
		approval map[string]any
		who      []header
		by       string // who asked for the run
		status   int
		why      string
	}{
		{"an operator, as nobody is named", nil, operator.headers(), "", 202, ""},
		{"an editor, who may all that an operator may", nil, editor.headers(), "", 202, ""},
		{"a viewer", nil, viewer.headers(), "", 403, "only role:operator can approve or reject this step"},
		{"an administrator of another group", nil, foreign.headers(), "", 404, "no such run"},
		{"an operator, where editors are asked", map[string]any{"by": []string{"role:editor"}}, operator.headers(), "", 403, "only role:editor"},
		{"a viewer, where viewers are asked", map[string]any{"by": []string{"role:viewer"}}, viewer.headers(), "", 202, ""},
		{"who is named", map[string]any{"by": []string{"role:editor", "user:named"}}, named.headers(), "", 202, ""},
		{"an administrator, who is not named", map[string]any{"by": []string{"user:named"}}, ann.headers(), "", 403, "only user:named"},
		{"who is named, by a token without the role", map[string]any{"by": []string{"user:named"}}, named.token(in(rights.Viewer, "deploy")), "", 403, "only user:named"},
		{"who is named, by a token with the role", map[string]any{"by": []string{"user:operator"}}, operator.token(in(rights.Operator, "deploy")), "", 202, ""},
		{"an operator, by a token for signals", nil, operator.token(in(rights.Operator, "deploy"), rights.Signal), "", 403, "of the kind signal"},
		{"who asked for the run", nil, operator.headers(), "operator", 202, ""},
		{"who asked for the run, and must not", map[string]any{"not_by_requester": true}, operator.headers(), "operator", 403, "operator started the run, and must not approve"},
		{"another one than who asked for the run", map[string]any{"not_by_requester": true}, editor.headers(), "operator", 202, ""},
		{"any operator, of a run of the schedule", map[string]any{"not_by_requester": true}, operator.headers(), "", 202, ""},
	} {
		doc := release(c.approval)
		if c.approval == nil {
			doc = release(map[string]any{})
		}
		put := g.send("PUT", "/api/v1/jobs/deploy/release", doc, ann.headers()...)
		if put.status >= 300 {
			t.Fatal(put.text)
		}
		item, _ := want[JobItem](g.world, 200, "GET", "/api/v1/jobs/deploy/release", nil, ann.headers()...)
		run := begun("deploy/release", noon.Add(time.Duration(i)*time.Hour))
		run.By, run.Version = c.by, item.Definition.Version
		g.history(run)
		for _, act := range []string{"approve", "reject"} {
			*asked = nil
			a := g.send("POST", "/api/v1/runs/"+string(run.RunID)+"/steps/ok/"+act, `{"note":"looks good"}`, c.who...)
			if a.status != c.status || !strings.Contains(a.text, c.why) || (a.status == 202) != (len(*asked) == 1) {
				t.Errorf("%s, %s: %d %s; want %d with %q; the owner was asked %d times", c.name, act, a.status, a.text, c.status, c.why, len(*asked))
			}
			if len(*asked) == 1 {
				if r := (*asked)[0]; string(r.Act) != act || r.RunID != run.RunID || r.Job != "deploy/release" || r.Step != "ok" || r.By == "" || r.Note != "looks good" {
					t.Errorf("%s: the owner is asked for %+v", c.name, r)
				}
			}
		}
	}
}

func TestWhoAskedForTheFirstRunMustNotApproveThoseThatFollow(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	operator := ann.person("operator", rights.Access{Role: rights.Operator, Group: rights.Everywhere})
	g.judges(func(r bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: r.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil
	})
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{"not_by_requester": true}), ann.headers()...)
	first, second, third := begun("ops/first", noon), begun("ops/second", noon.Add(time.Hour)), begun("deploy/release", noon.Add(2*time.Hour))
	first.By, first.Cause = "operator", job.CauseManual
	second.Parent, second.Cause = first.RunID, job.CauseParent
	third.Parent, third.Cause = second.RunID, job.CauseParent
	g.history(first, second, third)
	path := "/api/v1/runs/" + string(third.RunID) + "/steps/ok/approve"
	g.problemWith(operator.headers(), 403, "forbidden", "POST", path, nil, "operator started the run")
	want[StepAccepted](g.world, 202, "POST", path, nil, ann.headers()...)
}

func TestNobodyApprovesIfItIsNotKnownWhoMustNot(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	asked := g.judges(func(r bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: r.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil
	})
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{"not_by_requester": true}), ann.headers()...)
	run := begun("deploy/release", noon)
	run.Parent, run.Cause = job.FireRunID("ops/gone", noon.Add(-time.Hour).UnixMilli(), job.CauseManual), job.CauseParent
	g.history(run, waiting(run, "ok", &runlog.Wait{Kind: runlog.WaitApproval, Since: noon, By: []string{"role:operator"}, NotByRequester: true, Min: 1}))
	g.problemWith(ann.headers(), 403, "forbidden", "POST", "/api/v1/runs/"+string(run.RunID)+"/steps/ok/approve", nil, "who started the run")
	list, _ := want[ApprovalList](g.world, 200, "GET", "/api/v1/approvals", nil, ann.headers()...)
	if len(list.Items) != 1 || !list.Items[0].RequesterUnknown || list.Items[0].May {
		t.Errorf("the approval does not say so: %+v", list.Items)
	}
	if len(*asked) != 0 {
		t.Errorf("the owner is asked for %+v", *asked)
	}
}

func TestTheRightToApproveIsJudgedAtTheClick(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	operator := ann.person("operator", rights.Access{Role: rights.Operator, Group: "deploy"})
	asked := g.judges(func(r bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: r.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil
	})
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{}), ann.headers()...)
	run := begun("deploy/release", noon)
	g.history(run, waiting(run, "ok", &runlog.Wait{Kind: runlog.WaitApproval, Since: noon, By: []string{"role:operator"}, Min: 1}))
	path := "/api/v1/runs/" + string(run.RunID) + "/steps"
	row := func() RunStep {
		t.Helper()
		list, _ := want[RunSteps](g.world, 200, "GET", path, nil, operator.headers()...)
		return list.Steps[1]
	}
	if s := row(); !s.May || s.WhyNot != "" || s.Wait == nil || !s.Wait.Since.Equal(noon) || s.State != "queued" || s.Task != "wait" {
		t.Errorf("before: %+v", s)
	}
	ann.allow("operator", false, rights.Access{Role: rights.Viewer, Group: "deploy"})
	if s := row(); s.May || s.WhyNot != "only role:operator can approve or reject this step" {
		t.Errorf("after: %+v", s)
	}
	g.problemWith(operator.headers(), 403, "forbidden", "POST", path+"/ok/approve", nil, "only role:operator")
	if len(*asked) > 0 {
		t.Errorf("the owner was asked for %+v", *asked)
	}
}

func TestADecisionThatComesTooLateOrTwiceIsRefused(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{}))
	alive, over := begun("deploy/release", noon), begun("deploy/release", noon.Add(time.Hour))
	w.history(alive, over, finished(over, job.StatusFailed, 0, noon.Add(2*time.Hour)))
	var refuse error
	reply := bus.TriggerReply{Step: "ok", Round: 2, Status: job.StatusSucceeded}
	asked := w.judges(func(bus.WaitRequest) (bus.TriggerReply, error) { return reply, refuse })
	path := func(id job.RunID, step string) string {
		return "/api/v1/runs/" + string(id) + "/steps/" + step + "/approve"
	}
	a, _ := want[StepAccepted](w, 202, "POST", path(alive.RunID, "ok"), `{"key":"k"}`)
	if d := cmp.Diff(StepAccepted{RunID: job.RoundRunID(alive.RunID, "ok", 2), Step: "ok", Round: 2, Status: job.StatusSucceeded}, a); d != "" {
		t.Error(d)
	}
	want[StepAccepted](w, 202, "POST", path(alive.RunID, "ok"), nil, header{"Idempotency-Key", "k"})
	want[StepAccepted](w, 202, "POST", path(alive.RunID, "ok"), nil)
	if (*asked)[0].ID != (*asked)[1].ID || (*asked)[0].ID == (*asked)[2].ID {
		t.Errorf("asked under %s, %s by the same key, and %s", (*asked)[0].ID, (*asked)[1].ID, (*asked)[2].ID)
	}
	w.problem(404, "not_found", "POST", path(alive.RunID, "no"), nil, "the run has no step no")
	w.problem(409, "conflict", "POST", path(alive.RunID, "build"), nil, "step build is no approval")
	w.problem(409, "conflict", "POST", path(over.RunID, "ok"), nil, "has ended already, as failed")
	reply = bus.TriggerReply{Reason: "step ok has timed out"}
	w.problem(409, "conflict", "POST", path(alive.RunID, "ok"), nil, "step ok has timed out")
	refuse = problemOf(job.ErrConflict, "ann has approved it already")
	w.problem(409, "conflict", "POST", path(alive.RunID, "ok"), nil, "ann has approved it already")
}

func TestASignalIsForARunOrForTheOneOfItsKey(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	operator := ann.person("operator", rights.Access{Role: rights.Operator, Group: "deploy"}, rights.Access{Role: rights.Operator, Group: "ops"})
	hook := operator.token(rights.Access{Role: rights.Operator, Group: "deploy"}, rights.Signal)
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{}), ann.headers()...)
	run := begun("deploy/release", noon)
	g.history(run)
	var refuse error
	asked := g.judges(func(bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: run.RunID, Step: "paid", Status: job.StatusQueued}, refuse
	})
	byRun, byKey := "/api/v1/runs/"+string(run.RunID)+"/signals/paid", "/api/v1/jobs/deploy/release/signals/paid"
	accepted := SignalAccepted{RunID: run.RunID, Step: "paid", Status: job.StatusQueued}
	for _, c := range []struct {
		path string
		body any
		id   string // idempotency key
	}{{byRun, `{"data":{"sum":3},"id":"i"}`, ""}, {byRun, `{"data":{"sum":3}}`, "i"}, {byRun, nil, ""}, {byKey, `{"key":"17","data":[1],"id":"i"}`, ""}, {byKey, `{"key":"17","data":[1]}`, "i"}} {
		headers := hook
		if c.id != "" {
			headers = append([]header{{"Idempotency-Key", c.id}}, hook...)
		}
		if a, _ := want[SignalAccepted](g.world, 202, "POST", c.path, c.body, headers...); a != accepted {
			t.Errorf("%s %v: %+v", c.path, c.body, a)
		}
	}
	r := *asked
	if r[0].RunID != run.RunID || r[0].Job != "deploy/release" || r[0].Act != bus.WaitSignal || r[0].Signal != "paid" || string(r[0].Result) != `{"sum":3}` || r[0].By != "operator" || r[0].At.IsZero() {
		t.Errorf("the owner is asked for %+v", r[0])
	}
	if r[3].RunID != "" || r[3].Job != "deploy/release" || r[3].Key != "17" || string(r[3].Result) != "[1]" {
		t.Errorf("the owner is asked for %+v", r[3])
	}
	if r[0].ID != r[1].ID || r[1].ID == r[2].ID || r[3].ID != r[4].ID || r[3].ID == r[0].ID {
		t.Errorf("ids %s %s, %s, %s %s", r[0].ID, r[1].ID, r[2].ID, r[3].ID, r[4].ID)
	}

	large := `{"data":"` + strings.Repeat("x", bus.MaxResult-1) + `"}`
	for _, path := range []string{byRun, byKey} {
		g.problemWith(hook, 400, "invalid", "POST", path, large, `"field":"data"`, "has 65537 bytes")
		g.problemWith(hook, 400, "invalid", "POST", path, `{"data":{}`)
		g.problemWith(hook, 400, "invalid", "POST", path, `{"key":"`+strings.Repeat("é", 200)+`"}`, `"field":"key"`)
		g.problemWith(hook, 400, "invalid", "POST", strings.Replace(path, "/paid", "/Paid", 1), nil, "signal")
	}
	if len(*asked) != 5 {
		t.Errorf("the owner was asked %d times", len(*asked))
	}
	refuse = problemOf(job.ErrNotFound, "no run of deploy/release waits for signal paid with key 18")
	g.problemWith(hook, 404, "not_found", "POST", byKey, `{"key":"18"}`, "no run of deploy/release waits for signal paid with key 18")
	refuse = problemOf(job.ErrConflict, "paid has come already")
	g.problemWith(hook, 409, "conflict", "POST", byRun, nil, "paid has come already")

	viewer := ann.person("viewer", rights.Access{Role: rights.Viewer, Group: "deploy"})
	for _, path := range []string{byRun, byKey} {
		g.problemWith(viewer.headers(), 403, "forbidden", "POST", path, nil, "role operator in group deploy")
	}
	g.problemWith(hook, 403, "forbidden", "POST", "/api/v1/jobs/ops/other/signals/paid", nil, "role operator in group ops")
	for _, path := range []string{"/api/v1/me", "/api/v1/jobs", "/api/v1/runs/" + string(run.RunID), "/api/v1/approvals"} {
		g.problemWith(hook, 403, "forbidden", "GET", path, nil, "of the kind signal")
	}
	g.problemWith(hook, 403, "forbidden", "POST", "/api/v1/jobs/deploy/release/run", nil, "of the kind signal")
	g.problemWith(hook, 403, "forbidden", "POST", "/api/v1/tokens", `{"name":"all"}`, "of the kind signal")
	g.problemWith(ann.headers(), 400, "invalid", "POST", "/api/v1/tokens", `{"name":"x","only":["run"]}`, "only")
}

func TestDecisionsAndSignalsAreInTheAuditLog(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{}), ann.headers()...)
	run := begun("deploy/release", noon)
	g.history(run)
	g.judges(func(r bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: run.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil
	})
	path := "/api/v1/runs/" + string(run.RunID)
	want[StepAccepted](g.world, 202, "POST", path+"/steps/ok/approve", `{"note":"fine"}`, ann.headers()...)
	want[StepAccepted](g.world, 202, "POST", path+"/steps/ok/reject", `{"note":"no"}`, ann.headers()...)
	want[SignalAccepted](g.world, 202, "POST", path+"/signals/paid", `{"data":{"card":"secret"}}`, ann.headers()...)
	want[SignalAccepted](g.world, 202, "POST", "/api/v1/jobs/deploy/release/signals/paid", `{"key":"17"}`, ann.headers()...)
	g.problemWith(ann.headers(), 409, "conflict", "POST", path+"/steps/build/approve", nil)
	for operation, expected := range map[string]string{
		"approveStep": "step ok of run " + string(run.RunID) + ": fine", "rejectStep": "step ok of run " + string(run.RunID) + ": no",
		"signalRun": "signal paid of run " + string(run.RunID) + ": ", "signalJob": "signal paid of job deploy/release: with key 17",
	} {
		list := ann.entries("operation=" + operation)
		if len(list) != 1 || list[0].Object+": "+list[0].Note+string(list[0].Detail) != expected || list[0].Group != "deploy" || list[0].User != "ann" || strings.Contains(list[0].Note, "secret") {
			t.Errorf("%s: %+v", operation, list)
		}
	}
}

func TestApprovalsListWhatWaits(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "deploy"}, rights.Access{Role: rights.Viewer, Group: "ops"})
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{}), ann.headers()...)
	wait := runlog.Wait{Kind: runlog.WaitApproval, Since: noon, By: []string{"role:operator"}, Min: 1}
	notBob := wait
	notBob.NotByRequester = true
	first, second, hidden, other := begun("deploy/release", noon), begun("deploy/release", noon.Add(time.Hour)), begun("payroll/pay", noon), begun("ops/x", noon.Add(2*time.Hour))
	second.By = "bob"
	end := finished(stepOf(other, "done", 1, noon), job.StatusSucceeded, 0, noon)
	g.history(first, second, hidden, other, waiting(first, "ok", &wait), waiting(second, "ok", &notBob), waiting(hidden, "ok", &wait), waiting(other, "go", &wait),
		waiting(first, "paid", &runlog.Wait{Kind: runlog.WaitSignal, Since: noon, Signal: "paid"}), waiting(other, "done", &wait), end)
	list := func(b *browser, query string) (got []string) {
		t.Helper()
		all, _ := want[ApprovalList](g.world, 200, "GET", "/api/v1/approvals"+query, nil, b.headers()...)
		for _, a := range all.Items {
			line := string(a.Job) + " " + a.Step + " " + a.FireTime.Format("15:04")
			if a.May {
				line += " may"
			}
			got = append(got, strings.Join(strings.Fields(line+" "+a.RequestedBy+" "+a.Title+" "+string(a.WhyNot)), " "))
			if a.Wait.Kind != runlog.WaitApproval || !a.Wait.Since.Equal(noon) || a.RunID == "" {
				t.Errorf("%+v", a)
			}
		}
		return got
	}
	if d := cmp.Diff([]string{
		"deploy/release ok 12:00 may Release it?", "deploy/release ok 13:00 bob Release it? bob started the run, and must not approve or reject this step",
		"ops/x go 14:00 only role:operator can approve or reject this step",
	}, list(bob, "")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"deploy/release ok 12:00 may Release it?"}, list(bob, "?mine=true")); d != "" {
		t.Error(d)
	}
	if n := len(list(ann, "?mine=true")); n != 4 {
		t.Errorf("an administrator may approve %d", n)
	}
}

func TestApprovalsOfAnotherGroupHideNone(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "deploy"})
	wait := runlog.Wait{Kind: runlog.WaitApproval, Since: noon, By: []string{"role:operator"}, Min: 1}
	var updates []logstore.Update
	for n := range 1001 {
		updates = append(updates, waiting(begun("payroll/pay", noon.Add(time.Duration(n)*time.Second)), "ok", &wait))
	}
	mine := begun("deploy/release", noon.Add(24*time.Hour))
	g.history(append(updates, mine, waiting(mine, "ok", &wait))...)
	for _, b := range []*browser{bob, ann} {
		list, _ := want[ApprovalList](g.world, 200, "GET", "/api/v1/approvals", nil, b.headers()...)
		if n := len(list.Items); n == 0 || n > 1000 || list.Items[n-1].RunID != mine.RunID {
			t.Errorf("%d approvals are listed, without that of %s", n, mine.RunID)
		}
	}
}

func TestStepsShowWhatTheyWaitForBeforeTheyDo(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, 201, "PUT", "/api/v1/jobs/deploy/release", release(map[string]any{"min": 2}))
	run := begun("deploy/release", noon)
	w.history(run)
	list, _ := want[RunSteps](w, 200, "GET", "/api/v1/runs/"+string(run.RunID)+"/steps", nil)
	ok, paid := list.Steps[1], list.Steps[2]
	if d := cmp.Diff(&runlog.Wait{Kind: runlog.WaitApproval, By: []string{"role:operator"}, Min: 2}, ok.Wait); d != "" || ok.Detail != "approval 2 of role:operator" || ok.May || ok.WhyNot != "" {
		t.Errorf("%+v: %s", ok, d)
	}
	if d := cmp.Diff(&runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid", Key: "${params.order}"}, paid.Wait); d != "" || paid.Detail != "signal paid ${params.order}" || paid.Task != "wait" || paid.Attempts != 0 {
		t.Errorf("%+v: %s", paid, d)
	}
}

// problemOf returns an error of a kind with a text, as owners of shards answer.
func problemOf(kind error, text string) error { return fmt.Errorf("%w: %s", kind, text) }

func TestAStepSaysHowManyOfTheAwaitedRunsThereAre(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	hourly, _ := want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/etl/hour", map[string]any{"job": "etl/hour", "schedule": map[string]any{"cron": "0 * * * * ?"}, "task": map[string]any{"shell": "true"}}, ann.headers()...)
	first := hourly.Definition.EffectiveFrom.Truncate(time.Minute).Add(time.Minute)
	want[PutJobResult](g.world, 201, "PUT", "/api/v1/jobs/deploy/day", map[string]any{"job": "deploy/day", "steps": []any{
		map[string]any{"step": "hours", "wait": map[string]any{"runs": map[string]any{"job": "etl/hour", "last": 3}}},
	}}, ann.headers()...)
	for i, status := range []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusSucceeded} {
		run := begun("etl/hour", first.Add(time.Duration(i)*time.Minute))
		g.history(run, finished(started(run, "w"), status, 0, run.At.Add(time.Second)))
	}
	g.decide(first.Add(3 * time.Minute))
	day := begun("deploy/day", first.Add(3*time.Minute))
	g.history(day, waiting(day, "hours", &runlog.Wait{Kind: runlog.WaitRuns, Since: day.At, Runs: &runlog.AwaitedRuns{Job: "etl/hour", Last: 3, Skipped: job.SkippedBad}}))

	path := "/api/v1/runs/" + string(day.RunID) + "/steps"
	got, _ := want[RunSteps](g.world, 200, "GET", path, nil, ann.headers()...)
	s := got.Steps[0]
	if s.Met == nil || s.Of == nil || *s.Met != 2 || *s.Of != 3 || len(s.Missing) == 0 || !strings.Contains(string(s.Missing[0]), "is failed") {
		t.Errorf("the step says %v of %v, and %q", s.Met, s.Of, s.Missing)
	}
	viewer := ann.person("viewer", rights.Access{Role: rights.Viewer, Group: "deploy"})
	got, _ = want[RunSteps](g.world, 200, "GET", path, nil, viewer.headers()...)
	if s := got.Steps[0]; s.Met != nil || len(s.Missing) > 0 {
		t.Errorf("who may not see the awaited job is told %v of %v, and %q", s.Met, s.Of, s.Missing)
	}
}
