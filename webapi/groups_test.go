package webapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestAGroupsLimitsAreSetAndShown(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	const path = "/api/v1/groups/billing"
	set, _ := want[Group](w, http.StatusOK, "PUT", path, `{"limit":20,"rate":2.5}`, header{"Carillon-User", "ann"})
	if set.Limit != 20 || set.Rate != 2.5 || !set.Dispatched || set.ExecutorGroup != "billing" {
		t.Errorf("set: %+v", set)
	}
	w.heartbeat("billing", "i1", fleet.InstanceOnline)
	shown := func() Group {
		t.Helper()
		list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
		if len(list.Items) != 1 {
			t.Fatalf("groups: %+v", list.Items)
		}
		return list.Items[0]
	}
	if g := shown(); g.Limit != 20 || g.Rate != 2.5 {
		t.Errorf("shown: %+v", g)
	}
	x := begun("billing/x", noon)
	w.history(x)
	run, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
	if reason := run.Attempts[0].Reason; reason != "waits for its turn: group billing runs at most 20 at once and starts at most 2.5 per second" {
		t.Errorf("a pending run has the reason %q", reason)
	}
	if a := w.send("GET", "/api/v1/audit-log?limit=1", nil); !strings.Contains(a.text, `"group billing"`) {
		t.Errorf("the audit log has %s", a.text)
	}
	want[Group](w, http.StatusOK, "PUT", path, `{}`)
	want[Group](w, http.StatusOK, "PUT", path, `{"limit":21}`)
	want[Group](w, http.StatusOK, "PUT", path, `{"rate":3}`)
	if g := shown(); g.Limit != 21 || g.Rate != 3 {
		t.Errorf("after one limit at a time: %+v", g)
	}
	want[Group](w, http.StatusOK, "PUT", path, `{"limit":0,"rate":0}`)
	if g := shown(); g.Limit != 0 || g.Rate != 0 || !g.Dispatched {
		t.Errorf("without limits: %+v", g)
	}
	want[Group](w, http.StatusOK, "PUT", path, `{"started_by":["shop","mail","shop"]}`)
	want[Group](w, http.StatusOK, "PUT", path, `{"limit":5}`)
	if g := shown(); g.Limit != 5 || !slices.Equal(g.StartedBy, []string{"mail", "shop"}) {
		t.Errorf("with groups that may start its jobs: %+v", g)
	}
	want[Group](w, http.StatusOK, "PUT", path, `{"started_by":[]}`)
	if g := shown(); g.Limit != 5 || len(g.StartedBy) > 0 {
		t.Errorf("without groups that may start its jobs: %+v", g)
	}
	w.problem(400, "invalid", "PUT", path, `{"started_by":["Mail"]}`, "started_by")
	w.problem(400, "invalid", "PUT", path, `{"limit":-1}`, "limit")
	w.problem(400, "invalid", "PUT", path, `{"rate":0.00001}`, "rate")
	w.problem(400, "invalid", "PUT", "/api/v1/groups/Billing", `{}`, "group")
}

func TestGroupsSayHowManyRunsWaitAndSinceWhen(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	w.put("ops/x", "@daily")
	first, second := begun("billing/x", noon), begun("billing/x", noon.Add(time.Minute))
	w.history(second, first, begun("ops/x", noon), started(begun("ops/x", noon), "i1"))
	list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
	billing, ops := list.Items[0], list.Items[1]
	if billing.WaitingRuns == nil || *billing.WaitingRuns != 2 || !billing.WaitingSince.Equal(first.CommittedAt) {
		t.Errorf("of billing wait %v since %s, want 2 since %s", billing.WaitingRuns, billing.WaitingSince, first.CommittedAt)
	}
	if ops.WaitingRuns == nil || *ops.WaitingRuns != 0 || !ops.WaitingSince.IsZero() {
		t.Errorf("of ops wait %v since %s, want none", ops.WaitingRuns, ops.WaitingSince)
	}
}

func TestAGroupSaysHowBusyItWas(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	at := time.Now().UTC().Add(-30 * time.Minute).Truncate(time.Minute)
	ran, waits := begun("billing/x", at), begun("billing/x", at.Add(time.Minute))
	w.history(ran, finished(started(ran, "i1"), job.StatusSucceeded, 0, at.Add(31*time.Second)), waits)
	const path = "/api/v1/groups/billing/usage"
	instant := func(after time.Duration) string { return at.Add(after).Format(time.RFC3339) }
	usage, _ := want[GroupUsage](w, http.StatusOK, "GET", path+"?parts=2&from="+instant(0)+"&to="+instant(2*time.Minute), nil)
	diff := cmp.Diff([]runlog.UsagePart{
		{At: at, Waiting: 0.017, LongestWait: 1000, Started: 1, Ended: 1, SlotsInUse: 0.5},
		{At: at.Add(time.Minute), Waiting: 1, LongestWait: 60000},
	}, usage.Items)
	if diff != "" || !usage.From.Equal(at) || !usage.To.Equal(at.Add(2*time.Minute)) {
		t.Errorf("from %v to %v (-want +got):\n%s", usage.From, usage.To, diff)
	}

	usage, _ = want[GroupUsage](w, http.StatusOK, "GET", path, nil)
	if n, span := len(usage.Items), usage.To.Sub(usage.From); n != 60 || span != time.Hour {
		t.Errorf("by default there are %d parts of %v", n, span)
	}
	usage, _ = want[GroupUsage](w, http.StatusOK, "GET", path+"?parts=10&from="+instant(0)+"&to="+instant(50*time.Minute), nil)
	if n := len(usage.Items); n != 7 || usage.Items[n-1].Waiting != 1 {
		t.Errorf("of ten parts, these have begun: %+v", usage.Items)
	}
	w.heartbeat("ops", "i1", fleet.InstanceOnline)
	want[GroupUsage](w, http.StatusOK, "GET", "/api/v1/groups/ops/usage", nil)

	const ofJob = "/api/v1/jobs/billing/x/usage"
	usage, _ = want[GroupUsage](w, http.StatusOK, "GET", ofJob+"?parts=1&from="+instant(0)+"&to="+instant(time.Minute), nil)
	if len(usage.Items) != 1 || usage.Items[0].SlotsInUse != 0.5 || usage.Items[0].Ended != 1 {
		t.Errorf("of the job, there are %+v", usage.Items)
	}
	usage, _ = want[GroupUsage](w, http.StatusOK, "GET", "/api/v1/jobs/billing/other/usage", nil)
	if len(usage.Items) != 60 || usage.Items[30] != (runlog.UsagePart{At: usage.Items[30].At}) {
		t.Errorf("of another job, there are %+v", usage.Items)
	}
	w.problem(400, "invalid", "GET", "/api/v1/jobs/billing/No/usage", nil, "name")
	w.problem(400, "invalid", "GET", ofJob+"?from="+instant(-40*24*time.Hour), nil, "to", "31 days")

	w.problem(404, "not_found", "GET", "/api/v1/groups/mars/usage", nil, "group mars")
	w.problem(400, "invalid", "GET", "/api/v1/groups/Billing/usage", nil, "group")
	w.problem(400, "invalid", "GET", path+"?from="+instant(time.Hour)+"&to="+instant(2*time.Hour), nil, "from", "before now")
	w.problem(400, "invalid", "GET", path+"?from="+instant(time.Minute)+"&to="+instant(0), nil, "to")
	w.problem(400, "invalid", "GET", path+"?from="+instant(-40*24*time.Hour), nil, "to", "31 days")
	w.problem(400, "invalid", "GET", path+"?parts=1000", nil, "parts")
}

func TestAJobWithAPriorityHasItsGroupDispatched(t *testing.T) {
	w := newWorld(t)
	doc := document("billing/x", "@daily")
	doc["priority"] = "urgent"
	w.problem(400, "invalid", "PUT", "/api/v1/jobs/billing/x", doc, "priority")
	doc["priority"] = "high"
	saved, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", doc)
	list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
	if saved.Definition.Priority != job.PriorityHigh || !list.Items[0].Dispatched {
		t.Errorf("saved %+v, and the groups are %+v", saved.Definition.Job, list.Items)
	}
}

// TestThePauseOfAGroupIsSeenWhereverFiresAreForetold pauses a group until after a job's next
// fire, and then for good.
func TestThePauseOfAGroupIsSeenWhereverFiresAreForetold(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	w.put("ops/x", d.String())
	const path = "/api/v1/groups/billing/pause"
	until := d.fire(0).Add(time.Hour)
	paused, _ := want[Group](w, http.StatusOK, "PUT", path, map[string]any{"paused": true, "until": until, "note": "the database moves"}, header{"Carillon-User", "ann"})
	if p := paused.Pause; p == nil || !p.Until.Equal(until) || p.Author != "ann" || p.Note != "the database moves" {
		t.Fatalf("paused: %+v", p)
	}
	list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
	if g := list.Items; len(g) != 2 || g[0].Pause == nil || !g[0].Pause.Until.Equal(until) || g[1].Pause != nil {
		t.Errorf("the groups are %+v", g)
	}
	if a := w.send("GET", "/api/v1/audit-log?limit=1", nil); !strings.Contains(a.text, `"group billing"`) || !strings.Contains(a.text, "pauseGroup") {
		t.Errorf("the audit log has %s", a.text)
	}
	item := func(name string) JobItem {
		t.Helper()
		i, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/"+name+"?fires=2", nil)
		return i
	}
	ahead := func() (fires FirePage, counts FireCounts) {
		t.Helper()
		in := "from=" + d.fire(0).Add(-time.Minute).Format(time.RFC3339) + "&to=" + d.fire(1).Add(time.Minute).Format(time.RFC3339)
		fires, _ = want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+in, nil)
		counts, _ = want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?parts=1&"+in, nil)
		return fires, counts
	}
	names := func(query string) string {
		t.Helper()
		page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?"+query, nil)
		var names []string
		for _, i := range page.Items {
			names = append(names, string(i.Definition.Job.Job))
		}
		return strings.Join(names, " ")
	}
	if x, other := item("billing/x").NextFires, item("ops/x").NextFires; !x[0].FireTime.Equal(d.fire(1)) || x[0].Skipped || !other[0].FireTime.Equal(d.fire(0)) {
		t.Errorf("the next fires are %+v, and of the other group %+v", x, other)
	}
	preview, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x/preview?n=2", nil)
	if why := "executor group billing is paused until " + until.Format(time.RFC3339); !preview.Fires[0].Skipped || string(preview.Fires[0].Reason) != why || preview.Fires[1].Skipped {
		t.Errorf("the preview is %+v", preview)
	}
	fires, counts := ahead()
	if len(fires.Items) != 2 || len(fires.Items[0].Fires) != 1 || len(fires.Items[1].Fires) != 2 || counts.Counts[0] != 3 {
		t.Errorf("the fires ahead are %+v, %v in all", fires.Items, counts.Counts)
	}
	if got := names("sort=next"); got != "ops/x billing/x" {
		t.Errorf("by their next fire the jobs are %s", got)
	}

	want[Group](w, http.StatusOK, "PUT", path, `{"paused":true}`)
	if x := item("billing/x").NextFires; !x[0].Skipped || string(x[0].Reason) != "executor group billing is paused" || !x[0].FireTime.Equal(d.fire(0)) {
		t.Errorf("the next fires are %+v", x)
	}
	if fires, counts = ahead(); len(fires.Items) != 1 || counts.Counts[0] != 2 {
		t.Errorf("the fires ahead are %+v, %v in all", fires.Items, counts.Counts)
	}
	if got := names("where=fires:2d"); got != "ops/x" {
		t.Errorf("within two days fire %s", got)
	}

	resumed, _ := want[Group](w, http.StatusOK, "PUT", path, `{"paused":false}`)
	if x := item("billing/x").NextFires; resumed.Pause != nil || x[0].Skipped || !x[0].FireTime.Equal(d.fire(0)) || names("where=fires:2d") != "billing/x ops/x" {
		t.Errorf("resumed: %+v, and the next fires are %+v", resumed, x)
	}
	w.problem(400, "invalid", "PUT", path, `{"paused":false,"until":"2099-01-01T00:00:00Z"}`, "is only for pausing")
	w.problem(404, "not_found", "PUT", "/api/v1/groups/biling/pause", `{"paused":true}`, "group biling")
	w.problem(400, "invalid", "PUT", "/api/v1/groups/Billing/pause", `{"paused":true}`, "group")
}
