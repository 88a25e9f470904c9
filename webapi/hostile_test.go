package webapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// hostile makes requests that somebody makes who means no good, from what the contract
// says of each operation.
type hostile struct {
	*guardedWorld
	as    []header            // who makes the requests
	known map[string][]string // values of path parameters for which there is something
	r     *rand.Rand
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	h := &hostile{guardedWorld: newGuardedWorld(t), r: rand.New(rand.NewPCG(1, 2))}
	h.echoes = true
	ann := h.administrator()
	made, _ := want[NewToken](h.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"hostile"}`, ann.headers()...)
	h.as = []header{{"Authorization", "Bearer " + made.Secret}}
	h.putAs(ann, "billing/x")
	run := begun("billing/x", noon)
	h.history(run, finished(started(run, "w"), job.StatusSucceeded, 0, noon))
	owner(h.world, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	owner(h.world, "cancel", func(bus.CancelRequest) (bus.CancelReply, error) { return bus.CancelReply{Found: "pending"}, nil })
	owner(h.world, bus.VerbKey, func(bus.KeyRequest) (bus.KeyReply, error) { return bus.KeyReply{RunID: run.RunID}, nil })
	filling := job.Backfill{ID: "b", AskedAt: noon, AtOnce: 1, First: noon, Last: noon, Total: 1}
	owner(h.world, bus.VerbBackfill, func(journal.BackfillRequest) (job.Backfill, error) { return filling, nil })
	owner(h.world, bus.VerbCancelBackfill, func(journal.BackfillCancel) (job.Backfill, error) { return filling, nil })
	owner(h.world, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) {
		return journal.BackfillList{Backfills: []job.Backfill{filling}}, nil
	})
	owner(h.world, bus.VerbWait, func(bus.WaitRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: run.RunID, Step: "paid", Status: job.StatusSucceeded}, nil
	})
	h.known = map[string][]string{"group": {"billing"}, "name": {"x"}, "run_id": {string(run.RunID)}, "calendar": {"c"}, "user": {"bob"}, "session": {"s"}, "token": {"t"}, "secret": {"s"}, "backfill": {"b"}, "instance": {"b1"}}
	return h
}

// nasty are values for parameters of every kind.
var nasty = []string{
	"", "0", "-1", "1e999", "99999999999999999999", "NaN", "null", "true", "[]", "{}", "*", ">", ".", "..", "a.b", "a/b", "../../etc/passwd",
	"\x00", "a\r\nSet-Cookie: x=y", "\xff\xfe", "ä", "𝕏", "%", "%s%n", "'; DROP TABLE runs; --", "<script>", "2026-01-05T12:00:00Z",
	"9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "billing/x", `"17"`, `W/"17"`, "9223372036854775807", "18446744073709551616", "-9223372036854775808",
	strings.Repeat("a", 3000), strings.Repeat("../", 500),
}

func (h *hostile) pick(list []string) string { return list[h.r.IntN(len(list))] }

// value returns JSON for a schema, right or wrong.
func (h *hostile) value(schema *openapi3.Schema, depth int) any {
	if schema == nil || h.r.IntN(6) == 0 || depth > 6 {
		return []any{nil, true, -1, 1e300, "x", h.pick(nasty), []any{}, map[string]any{}, []any{map[string]any{"a": []any{nil}}}, strings.Repeat("x", 100000)}[h.r.IntN(10)]
	}
	for _, part := range schema.AllOf {
		if h.r.IntN(2) == 0 || len(schema.AllOf) == 1 {
			return h.value(part.Value, depth+1)
		}
	}
	if len(schema.Enum) > 0 && h.r.IntN(2) == 0 {
		return schema.Enum[h.r.IntN(len(schema.Enum))]
	}
	switch {
	case schema.Type.Is("object"):
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, name) || h.r.IntN(2) == 0 {
				object[name] = h.value(schema.Properties[name].Value, depth+1)
			}
		}
		if h.r.IntN(8) == 0 {
			object[h.pick(nasty)] = "unknown"
		}
		return object
	case schema.Type.Is("array"):
		list := []any{}
		for range h.r.IntN(4) {
			list = append(list, h.value(schema.Items.Value, depth+1))
		}
		return list
	case schema.Type.Is("boolean"):
		return h.r.IntN(2) == 0
	case schema.Type.Is("integer"):
		return h.r.IntN(2000) - 5
	case len(schema.Examples) > 0 && h.r.IntN(2) == 0:
		return schema.Examples[0]
	}
	return h.pick(append(nasty, "billing/x", "billing", "5m", "0 3 * * *", "UTC", "ann", "12-25"))
}

// bodies are texts that are no document of any operation.
var bodies = []string{
	"", "{", "[", "null", "true", "0", `"x"`, "[]", "{}", "{}{}", "\xff\xfe{}", "{\"a\":\"\xff\"}", `{"a":1,"a":2}`, `{"job":null,"task":null}`,
	strings.Repeat("[", 200_000), strings.Repeat(`{"a":`, 100_000), `{"params":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}`,
	`{"n":` + strings.Repeat("9", 100_000) + `}`, `{"n":1e1000000000}`, "\x00",
}

// largeBodies are like bodies, and take the race detector a minute.
var largeBodies = []string{`{"user":"` + strings.Repeat("a", 1<<20) + `"}`, strings.Repeat(" ", guard.MaxBody)}

// try makes a request with parameters that nobody should make, and wants an answer,
// soon, that is no fault of the server's.
func (h *hostile) try(op *openapi3.Operation, method, template string, params openapi3.Parameters, body any) {
	h.Helper()
	path, query := template, url.Values{}
	headers := slices.Clone(h.as)
	for _, p := range params {
		if op.OperationID == "tailLogs" && (p.Value.Name == "attempt" || p.Value.Name == "job") {
			continue // a tail of what is yet to come is open until it comes
		}
		text := h.pick(nasty)
		if schema := p.Value.Schema.Value; h.r.IntN(3) > 0 {
			text = fmt.Sprint(h.value(schema, 5))
		}
		switch p.Value.In {
		case openapi3.ParameterInPath:
			if known := h.known[p.Value.Name]; len(known) > 0 && h.r.IntN(3) > 0 {
				text = h.pick(known)
			}
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(text))
		case openapi3.ParameterInQuery:
			if p.Value.Required || h.r.IntN(3) == 0 {
				query.Add(p.Value.Name, text)
			}
		case openapi3.ParameterInHeader:
			if h.r.IntN(3) == 0 && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
				headers = append(headers, header{p.Value.Name, text})
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	h.ask(op, method, path, body, headers)
}

// ask makes a request and judges the answer.
func (h *hostile) ask(op *openapi3.Operation, method, path string, body any, headers []header) {
	h.Helper()
	began := time.Now()
	a := h.send(method, path, body, headers...)
	took := time.Since(began)
	shown := fmt.Sprintf("%s %.300s (%s), body %.300v", method, path, op.OperationID, body)
	switch {
	case a.status >= http.StatusInternalServerError:
		h.Errorf("%s: %d %s", shown, a.status, a.text)
	case took > time.Minute: // the server gives up after half of that
		h.Errorf("%s: took %v", shown, took)
	case a.status < http.StatusBadRequest:
	default:
		var p Problem
		if err := json.Unmarshal([]byte(a.text), &p); err != nil || p.Code == "" || p.Status != a.status || a.header.Get("Content-Type") != "application/problem+json" {
			h.Errorf("%s: %d %q, not a problem: %s", shown, a.status, a.header.Get("Content-Type"), a.text)
		}
	}
	for name := range a.header {
		if name == "Set-Cookie" && strings.Contains(a.header.Get(name), "x=y") {
			h.Errorf("%s: a header came in", shown)
		}
	}
}

// everything makes requests to all operations: each with all of bodies, and some rounds of what is
// made up.
func (h *hostile) everything(bodies []string, rounds int) {
	h.Helper()
	for _, template := range slices.Sorted(maps.Keys(h.server.contract.Doc.Paths.Map())) {
		item := h.server.contract.Doc.Paths.Find(template)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			op := operations[method]
			if op.OperationID == "followEvents" || op.OperationID == "watchLogs" {
				continue // it is open until somebody goes
			}
			params := append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...)
			var schema *openapi3.Schema
			if op.RequestBody != nil {
				schema = op.RequestBody.Value.Content["application/json"].Schema.Value
				for _, body := range bodies {
					h.try(op, method, template, params, body)
				}
			}
			for range rounds {
				var body any
				if schema != nil {
					body = h.value(schema, 0)
				}
				h.try(op, method, template, params, body)
			}
		}
	}
}

func TestNothingThatIsSentMakesTheServerFail(t *testing.T) { sendAnything(t, bodies, 1) }

func TestAtLengthNothingThatIsSentMakesTheServerFail(t *testing.T) { sendAnything(t, largeBodies, 12) }

func sendAnything(t *testing.T, bodies []string, rounds int) {
	t.Helper()
	h := newHostile(t)
	h.everything(bodies, rounds)
	// And it goes on as if nothing had been.
	want[JobPage](h.world, http.StatusOK, "GET", "/api/v1/jobs", nil, h.as...)
}

// What is asked for from or to the ends of time is rounded, extended and written.
func TestTheEndsOfTimeAreNoFaultOfTheServers(t *testing.T) {
	h := newHostile(t)
	ends := []string{"", "0001-01-01T00:00:01Z", "1969-12-31T23:59:59Z", "9998-12-31T23:59:59Z", "9999-12-31T23:59:59Z"}
	asked := 0
	for template, item := range h.server.contract.Doc.Paths.Map() {
		op := item.Get
		if op == nil {
			continue
		}
		path, query, ranged := template, url.Values{}, false
		for _, p := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
			switch name := p.Value.Name; {
			case p.Value.In == openapi3.ParameterInPath:
				path = strings.ReplaceAll(path, "{"+name+"}", append(h.known[name], "1")[0])
			case p.Value.In == openapi3.ParameterInQuery && (name == "from" || name == "to"):
				ranged = true
			case p.Value.In == openapi3.ParameterInQuery && p.Value.Required:
				query.Set(name, "x")
			}
		}
		if !ranged {
			continue
		}
		for _, from := range ends {
			for _, to := range ends {
				for name, at := range map[string]string{"from": from, "to": to} {
					if query.Del(name); at != "" {
						query.Set(name, at)
					}
				}
				h.ask(op, http.MethodGet, path+"?"+query.Encode(), nil, h.as)
				asked++
			}
		}
	}
	if asked < 10*len(ends)*len(ends) {
		t.Errorf("only %d requests were made", asked)
	}
}
