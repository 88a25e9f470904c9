package webapi

import (
	"net/http"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// parent is a document of a job with children.
func parent(name job.Name, children ...job.Name) map[string]any {
	d := document(name, "@hourly")
	d["children"] = children
	return d
}

func TestAJobThatWouldRunAfterItselfIsRefused(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/g/a", parent("g/a", "g/b"))
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/g/b", parent("g/b", "g/c", "g/later"))
	w.problem(400, "invalid", "PUT", "/api/v1/jobs/g/c", parent("g/c", "g/a"), "g/c → g/a → g/b → g/c")
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/g/c", parent("g/c"))
}

func TestAChildIsAddedOnlyByWhoMayRunIt(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "ops"})
	g.problemWith(bob.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/ops/x", parent("ops/x", "billing/pay"), "operator in group billing")
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/ops/x", parent("ops/x", "billing/pay"), ann.headers()...)
	// What somebody else has added may stay when the rest is edited.
	edited := parent("ops/x", "billing/pay", "ops/y")
	want[PutJobResult](g.world, http.StatusOK, "PUT", "/api/v1/jobs/ops/x", edited, bob.headers()...)
}

func TestACallIsAddedOnlyByWhoMayRunTheJob(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "ops"})
	caller := func(jobs ...string) map[string]any {
		var steps []any
		for i, name := range jobs {
			steps = append(steps, map[string]any{"step": "s" + itoa(int64(i)), "call": name})
		}
		return map[string]any{"job": "ops/x", "steps": steps}
	}
	g.problemWith(bob.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/ops/x", caller("billing/pay"), "operator in group billing")
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/ops/x", caller("billing/pay"), ann.headers()...)
	want[PutJobResult](g.world, http.StatusOK, "PUT", "/api/v1/jobs/ops/x", caller("billing/pay", "ops/y"), bob.headers()...)
}
