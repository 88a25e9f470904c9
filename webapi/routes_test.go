package webapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/webapi/guard"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestTheTableOfRoutesHasTheOperationsOfTheContract(t *testing.T) {
	w := newWorld(t)
	endpoints := w.server.endpoints(t.Context())
	served := map[string]bool{}
	for _, r := range w.server.app(t.Context(), t.Context()).GetRoutes(true) {
		if r.Method != fiber.MethodHead {
			served[r.Method+" "+r.Path] = true
		}
	}
	for _, op := range w.server.contract.Operations() {
		if endpoints[op.ID] == nil {
			t.Errorf("operation %s of the contract has no row", op.ID)
		}
		if route := op.Method + " " + op.Route(); !served[route] {
			t.Errorf("operation %s is not served as %s", op.ID, route)
		} else {
			delete(served, route)
		}
		delete(endpoints, op.ID)
	}
	for id := range endpoints {
		t.Errorf("%s has a row, and is no operation of the contract", id)
	}
	for route := range served {
		t.Errorf("%s is served, and not in the contract", route)
	}
}

func TestBadRequestsGetClearProblems(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	const jobs, x = "/api/v1/jobs", "/api/v1/jobs/billing/x"
	doc := func(change func(map[string]any)) map[string]any {
		d := document("billing/x", "0 3 * * *")
		change(d)
		return d
	}
	run := func(path string) string { return "/api/v1/runs/019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d" + path }
	type parts = []string
	for _, c := range []struct {
		status       int
		code         string
		method, path string
		body         any
		parts        parts
	}{
		{404, "not_found", "GET", "/api/v1/nothing", nil, nil},
		{404, "not_found", "GET", "/api", nil, nil},
		{404, "not_found", "POST", "/nothing", nil, nil},
		{405, "method_not_allowed", "DELETE", "/api/v1/pause", nil, nil},
		{405, "method_not_allowed", "GET", x + "/run", nil, nil},
		{404, "not_found", "GET", jobs + "/billing/y", nil, parts{"job billing/y"}},
		{404, "not_found", "DELETE", jobs + "/billing/y", nil, nil},
		{404, "not_found", "POST", jobs + "/billing/y/pause", nil, nil},
		{404, "not_found", "POST", jobs + "/billing/y/run", nil, nil},
		{404, "not_found", "GET", jobs + "/billing/y/versions", nil, nil},
		{404, "not_found", "GET", jobs + "/billing/y/preview", nil, nil},
		{400, "invalid", "GET", jobs + "/billing/a.b", nil, parts{"must be GROUP/NAME, each of 1 to 63 lower-case letters"}},
		{400, "invalid", "GET", jobs + "/billing/*", nil, parts{`"field":"job"`}},
		{400, "invalid", "GET", jobs + "/Billing%20x/y", nil, parts{`"field":"job"`}},
		{400, "invalid", "GET", jobs + "?limit=0", nil, parts{`"field":"limit"`, "at least 1"}},
		{400, "invalid", "GET", jobs + "?limit=x", nil, parts{`"field":"limit"`, `\"x\" must be a whole number`}},
		{400, "invalid", "GET", jobs + "?paused=maybe", nil, parts{`"field":"paused"`, "must be true or false"}},
		{400, "invalid", "GET", jobs + "?limit=1&limit=2", nil, parts{"more than once"}},
		{400, "invalid", "GET", jobs + "?pausd=true", nil, parts{`"field":"pausd"`, "not a parameter"}},
		{400, "invalid", "GET", jobs + "?cursor=x", nil, parts{`"field":"cursor"`}},
		{400, "invalid", "GET", jobs + "?group=a.*", nil, parts{`"field":"group"`}},
		{400, "invalid", "GET", jobs + "?q=%zz", nil, parts{"query string", "a % must be followed"}},
		{400, "invalid", "GET", jobs + "?q=a;b", nil, parts{"query string", "a semicolon must be written as %3B"}},
		{400, "invalid", "PUT", x, nil, nil},
		{400, "invalid", "PUT", x, "{", parts{"ends too early"}},
		{400, "invalid", "PUT", x, "{} {}", parts{}},
		{400, "invalid", "PUT", x, `"text"`, parts{"an object"}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["retries"] = 3 }), parts{`"field":"retries"`, "not a known field"}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["job"] = "billing/y" }), parts{`"field":"job"`, "as in the path"}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["timeout"] = "-1s" }), parts{`"field":"timeout"`}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["schedule"] = map[string]any{"cron": "61 * * * *", "zone": "Mars/Base"} }), parts{`"field":"schedule.`}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["schedule"] = map[string]any{"evry": "5s"} }), parts{`"field":"schedule.evry"`, "not a known field"}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { d["schedule"] = map[string]any{"every": "5s"} }), parts{`"field":"schedule.every"`, "must be an object"}},
		{400, "invalid", "PUT", x, doc(func(d map[string]any) { delete(d, "job") }), parts{`"field":"job"`, "is missing"}},
		{400, "invalid", "PUT", x, "{\"job\":\"billing/x\",\"description\":\"caf\xe9\"}", parts{"not UTF-8"}},
		{400, "invalid", "PUT", x + "?dry_run=yes", document("billing/x", "0 3 * * *"), parts{`"field":"dry_run"`}},
		{400, "invalid", "POST", x + "/run", `{"params":1,"cause":"retry"}`, parts{`"field":"cause"`}},
		{400, "invalid", "POST", x + "/run", `{"run_id":"x"}`, parts{`"field":"run_id"`}},
		{400, "invalid", "POST", x + "/run", `{"param":1}`, parts{`"field":"param"`, "is not a known field"}},
		{400, "invalid", "POST", x + "/run", `[]`, nil},
		{400, "invalid", "PUT", "/api/v1/pause", `{}`, parts{`"field":"paused"`, `"detail":"paused is missing"`}},
		{400, "invalid", "PUT", "/api/v1/pause", `{"paused":"yes"}`, parts{`"field":"paused"`, "must be a boolean"}},
		{400, "invalid", "POST", "/api/v1/tokens", `{"name":"x","expires_in":"soon"}`, parts{`"field":"expires_in"`, `must be a number with a unit`}},
		{400, "invalid", "POST", "/api/v1/tokens", `{"name":"x","expires_in":5}`, parts{`"field":"expires_in"`, "must be a string"}},
		{400, "invalid", "PUT", "/api/v1/retention", `{"retention":{"default":{"runs":"soon"}}}`, parts{`runs"`}},
		{400, "invalid", "POST", jobs + "/bulk", `{"action":"explode","jobs":[]}`, parts{`"field":"action"`, "must be pause, resume,", `"field":"jobs"`, "must have 1 or more items"}},
		{400, "invalid", "GET", "/api/v1/fires", nil, parts{`"field":"to"`, "is missing"}},
		{400, "invalid", "POST", "/api/v1/preview", `{}`, parts{`"field":"expr"`}},
		{400, "invalid", "POST", "/api/v1/preview", `{"expr":"61 * * * *"}`, parts{`"field":"expr"`}},
		{400, "invalid", "POST", "/api/v1/preview", `{"expr":"0 3 * * *","zone":"Mars/Base"}`, parts{`"field":"zone"`}},
		{400, "invalid", "POST", "/api/v1/preview", `{"schedule":{"fixed_rate":"1ns"}}`, parts{`"field":"schedule.fixed_rate"`}},
		{400, "invalid", "POST", "/api/v1/preview", `{"schedule":{"fixed_rate":"often"}}`, parts{"often"}},
		{400, "invalid", "PUT", "/api/v1/calendars/x", `{"calendar":"x","dates":["2026-02-30"]}`, parts{`"field":"dates[0]"`}},
		{400, "invalid", "PUT", "/api/v1/calendars/x", `{"calendar":"y"}`, parts{"as in the path"}},
		{400, "invalid", "GET", "/api/v1/calendars/A.B", nil, parts{`"field":"calendar"`}},
		{404, "not_found", "GET", "/api/v1/calendars/x", nil, parts{"calendar x"}},
		{400, "invalid", "GET", "/api/v1/runs?status=done", nil, parts{`"field":"status"`}},
		{400, "invalid", "GET", "/api/v1/runs?from=yesterday", nil, parts{`"detail":"from must be an instant in RFC 3339, such as 2026-03-01T09:00:00Z"`}},
		{400, "invalid", "GET", "/api/v1/runs?job=x", nil, parts{`"field":"job"`}},
		{400, "invalid", "GET", "/api/v1/runs?cursor=x", nil, parts{`"field":"cursor"`}},
		{400, "invalid", "GET", "/api/v1/runs/1", nil, parts{`"field":"run_id"`, "UUIDv7"}},
		{404, "not_found", "GET", run(""), nil, nil},
		{404, "not_found", "GET", run("/logs"), nil, nil},
		{404, "not_found", "GET", run("/logs/tail"), nil, nil},
		{400, "invalid", "GET", run("/logs/tail?job=x"), nil, parts{`"field":"job"`}},
		{404, "not_found", "POST", run("/cancel"), nil, nil},
		{400, "invalid", "GET", run("/logs?from_seq=0"), nil, parts{`"field":"from_seq"`}},
		{400, "invalid", "GET", run("/logs?level=loud"), nil, parts{`"field":"level"`}},
	} {
		w.problem(c.status, c.code, c.method, c.path, c.body, c.parts...)
	}
}

func TestABodyMustBeJSONAndBounded(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	for _, kind := range []string{"text/plain", "application/yaml", ""} {
		w.problemWith([]header{{"Content-Type", kind}}, 415, "unsupported_media_type", "PUT", x, document("billing/x", "@daily"), "application/json")
	}
	w.problem(413, "too_large", "PUT", x, strings.Repeat(" ", guard.MaxBody+1))
	w.problem(400, "invalid", "PUT", x, strings.Repeat(" ", 1<<20), "at most 262144")
	want[PutJobResult](w, http.StatusCreated, "PUT", x, document("billing/x", "@daily"), header{"Content-Type", "application/json; charset=utf-8"})
}

func TestABodyThatIsCompressedIsNotUnpacked(t *testing.T) {
	w := newWorld(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(bytes.Repeat([]byte(" "), 64<<20))
	w.check(errors.Join(err, z.Close()))
	if packed.Len() > guard.MaxBody/10 {
		t.Fatalf("%d bytes are too many to show anything", packed.Len())
	}
	for _, kind := range []string{"gzip", "GZIP", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip"} {
		for method, path := range map[string]string{"POST": "/api/v1/sign-in", "PUT": "/api/v1/jobs/billing/x"} {
			w.problemWith([]header{{"Content-Encoding", kind}}, 415, "unsupported_media_type", method, path, packed.String(), "compressed")
		}
	}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", document("billing/x", "@daily"), header{"Content-Encoding", "identity"})
	form := "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n" + strings.Repeat(" ", 1<<20) + "\r\n--x--\r\n"
	w.problemWith([]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 415, "unsupported_media_type", "PUT", "/api/v1/jobs/billing/x", form, "application/json")
}

func TestRequestsMeantForOthersAreRefused(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.Hosts = []string{"carillon.test"} })
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1"} {
		w.problemWith([]header{{"Host", host}}, 421, "misdirected", "GET", "/api/v1/pause", nil)
		w.problemWith([]header{{"Host", host}}, 421, "misdirected", "GET", "/", nil)
	}
	for _, host := range []string{"localhost", "localhost:1", "127.0.0.2", "[::1]:80"} {
		want[Pause](w, http.StatusOK, "GET", "/api/v1/pause", nil, header{"Host", host})
	}
	want[Health](w, http.StatusOK, "GET", "/healthz", nil, header{"Host", "carillon.test:443"})
	body := `{"paused":true}`
	for _, h := range []header{{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		w.problemWith([]header{h}, 403, "forbidden", "PUT", "/api/v1/pause", body)
	}
	want[Pause](w, http.StatusOK, "PUT", "/api/v1/pause", body, header{"Origin", w.url})
	want[Pause](w, http.StatusOK, "PUT", "/api/v1/pause", body, header{"Sec-Fetch-Site", "same-origin"})
	if a := w.send("GET", "/api/v1/pause", nil, header{"Origin", "http://evil.example"}); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("CORS allows another origin to read")
	}
}

func TestTheConsoleIsServedBesideTheAPI(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", "/jobs/billing/x", "/apiary"} {
		a := w.send("GET", path, nil, header{"Accept", "text/html,*/*;q=0.8"})
		if a.status != http.StatusOK || !strings.Contains(a.text, "<!doctype html>") || a.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %.60s", path, a.status, a.text)
		}
	}
}
