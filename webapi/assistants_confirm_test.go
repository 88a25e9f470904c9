package webapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/rights"
)

// acting are the tools that change things.
var acting = []string{"acknowledge", "pause", "rerun", "resume", "run"}

// grantAssist gives ann all grants.
func (b *browser) grantAssist() {
	b.Helper()
	want[any](b.world, http.StatusOK, "PUT", "/api/v1/users/ann", map[string]any{"access": rights.List{{Role: rights.Admin, Group: rights.Everywhere, Grants: rights.Grants}}}, b.headers()...)
}

// actor is what may act in a group.
func actor(group string) rights.Access {
	return rights.Access{Role: rights.Operator, Group: group, Grants: []rights.Grant{rights.Logs, rights.Params, rights.Assist}}
}

// propose calls a tool that changes things, and returns its arguments with the code.
func (a *mcpAssistant) propose(tool string, args map[string]any) map[string]any {
	a.Helper()
	text, found := a.ask(tool, args)
	code, _ := found["confirm"].(string)
	if code == "" || found["done"] != false || !strings.Contains(text, "Nothing has changed yet") {
		a.Fatalf("%s: %s", tool, text)
	}
	with := maps.Clone(args)
	with["confirm"] = code
	return with
}

// refused calls a tool with an outcome that has a word.
func (a *mcpAssistant) refused(word, tool string, args map[string]any) {
	a.Helper()
	if text, found := a.ask(tool, args); found != nil || !strings.Contains(text, word) {
		a.Errorf("%s %v: %s, want %q", tool, args, text, word)
	}
}

func (g *guardedWorld) paused(b *browser, name string) bool {
	g.Helper()
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/"+name, nil, b.headers()...)
	return item.Definition.Paused
}

func TestAnAssistantActsOnceItsPersonHasConfirmed(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	ann.grantAssist()
	g.putAs(ann, "billing/x")
	a, err := g.assistantAt(g.inTurn(g.url, g.anotherServer()), ann.token(actor("billing")))
	g.check(err)
	if got := a.tools(); len(got) != len(reading)+len(acting) {
		t.Errorf("the tools are %v", got)
	}
	args := a.propose("pause", map[string]any{"job": "billing/x", "note": "spring"})
	if g.paused(ann, "billing/x") {
		t.Fatal("the first call paused the job")
	}
	text, done := a.ask("pause", args)
	if done["done"] != true || !strings.HasSuffix(fmt.Sprint(done["link"]), "/jobs/billing/x") || !g.paused(ann, "billing/x") {
		t.Errorf("confirmed: %s", text)
	}
	a.refused("paused already", "pause", args)

	resume := a.propose("resume", map[string]any{"job": "billing/x"})
	if _, done := a.ask("resume", resume); done["done"] != true || g.paused(ann, "billing/x") {
		t.Errorf("resumed: %v", done)
	}
	a.refused("confirm", "pause", args) // once more, for the job as it was
	if g.paused(ann, "billing/x") {
		t.Error("a code paused the job twice")
	}
	entries := ann.entries("object=job+billing/x&operation=pauseJob")
	if len(entries) != 1 || entries[0].User != "ann" || entries[0].Assistant != "Test 1" || entries[0].Note != "spring" {
		t.Errorf("the audit log has %+v", entries)
	}
}

func TestACodeIsGoodForOneChangeOfOneCaller(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	ann.grantAssist()
	g.putAs(ann, "billing/x")
	g.putAs(ann, "billing/y")
	a, other := g.assistant(ann.token(actor("billing"))), g.assistant(ann.token(actor("billing")))
	args := a.propose("pause", map[string]any{"job": "billing/x"})
	other.refused("another caller", "pause", args)
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(args)
		changed[name] = value
		return changed
	}
	a.refused("other arguments", "pause", with("job", "billing/y"))
	a.refused("other arguments", "pause", with("until", "2030-01-01T00:00:00Z"))
	a.refused("another tool", "run", args)
	code := fmt.Sprint(args["confirm"])
	a.refused("is no code", "pause", with("confirm", "x"))
	a.refused("something else", "pause", with("confirm", code[:len(code)-1]+"-"))
	id, mac, _ := strings.Cut(code, ".")
	a.refused("something else", "pause", with("confirm", "019b76da"+id[8:]+"."+mac)) // of another time

	want[PutJobResult](g.world, http.StatusOK, "PUT", "/api/v1/jobs/billing/x", document("billing/x", "0 5 * * *"), ann.headers()...)
	a.refused("not as it was", "pause", args)
	if g.paused(ann, "billing/x") || g.paused(ann, "billing/y") {
		t.Error("a code was good for something else")
	}
}

func TestWhoMayNotActByAnAssistantHasNoToolsForIt(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	ann.grantAssist()
	g.putAs(ann, "billing/x")
	g.putAs(ann, "ops/y")
	for name, access := range map[string]rights.Access{
		"operator without the grant": {Role: rights.Operator, Group: "billing", Grants: []rights.Grant{rights.Logs}},
		"viewer with it":             {Role: rights.Viewer, Group: "billing", Grants: []rights.Grant{rights.Logs, rights.Assist}},
		"admin by default":           {Role: rights.Admin, Group: rights.Everywhere},
	} {
		a := g.assistant(ann.token(access))
		if got := a.tools(); !slices.Equal(got, reading) {
			t.Errorf("%s: the tools are %v", name, got)
		}
	}
	a := g.assistant(ann.token(actor("billing")))
	a.refused("ops", "pause", map[string]any{"job": "ops/y"})

	lost := ann.token(actor("billing"))
	b := g.assistant(lost)
	args := b.propose("pause", map[string]any{"job": "billing/x"})
	want[any](g.world, http.StatusOK, "PUT", "/api/v1/users/ann", map[string]any{"access": rights.List{{Role: rights.Admin, Group: rights.Everywhere}}}, ann.headers()...)
	if got := b.tools(); !slices.Equal(got, reading) {
		t.Errorf("without the grant since, the tools are %v, and a code is %v", got, args["confirm"] != nil)
	}
}

func TestAnAssistantAcknowledgesAnIncident(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	ann.grantAssist()
	id := g.incident("billing")
	a := g.assistant(ann.token(actor("billing")))
	args := a.propose("acknowledge", map[string]any{"incident": id, "note": "looking"})
	if text, done := a.ask("acknowledge", args); done["done"] != true {
		t.Errorf("acknowledged: %s", text)
	}
	a.refused("already", "acknowledge", args)
	incident, _ := want[Incident](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents/"+id, nil, ann.headers()...)
	if incident.AcknowledgedBy != "ann" || incident.Note != "looking" {
		t.Errorf("the incident is %+v", incident)
	}
	g.assistant(ann.token(actor("ops"))).refused("incident", "acknowledge", map[string]any{"incident": id})
}
