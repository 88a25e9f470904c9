package webapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

const backup job.Name = "ops/backup"

const (
	pathTokens  = "/api/v1/jobs/ops/backup/ping-tokens"
	pathOfJob   = "/api/v1/jobs/ops/backup/ping"
	unknownPing = "/ping/carillon_ping_0123456789ab_0123456789abcdefghijABCDEFGHIJ01"
)

// watched saves a job that is done elsewhere.
func (w *world) watched(name job.Name, methods ...string) {
	w.Helper()
	watch := map[string]any{"grace": "30m"}
	if len(methods) > 0 {
		watch["methods"] = methods
	}
	doc := map[string]any{"job": name, "schedule": map[string]any{"cron": "0 3 * * *"}, "task": map[string]any{"watch": watch}}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), doc)
}

// token makes a ping token of a job.
func (w *world) token(name job.Name) NewPingToken {
	w.Helper()
	made, _ := want[NewPingToken](w, http.StatusCreated, "POST", "/api/v1/jobs/"+string(name)+"/ping-tokens", nil)
	return made
}

// ping sends a ping, which must be taken.
func (w *world) ping(method, path string, body any, headers ...header) PingAccepted {
	w.Helper()
	a := w.send(method, path, body, headers...)
	var got PingAccepted
	if a.status != http.StatusOK || method != "HEAD" && json.Unmarshal([]byte(a.text), &got) != nil {
		w.Errorf("%s: %d %s", method, a.status, a.text)
	}
	return got
}

// stored returns the last ping of the backup that JetStream has.
func (w *world) stored() bus.Ping {
	w.Helper()
	stream, err := w.conn.JS.Stream(w.Context(), bus.StreamEvt)
	w.check(err)
	m, err := stream.GetLastMsgForSubject(w.Context(), bus.SubjectEvent(backup.Shard(shards), backup.Group()))
	w.check(err)
	var p bus.Ping
	w.check(json.Unmarshal(m.Data, &p))
	return p
}

func TestAPingIsStoredWhenItIsAnswered(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	made := w.token(backup)
	url, bearer := "/ping/"+made.Token, header{"Authorization", "Bearer " + made.Token}
	code := func(n int) *int { return &n }
	text := header{"Content-Type", "text/plain"}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("secret"))
	w.check(errors.Join(err, z.Close()))
	for name, c := range map[string]struct {
		method, path string
		body         any
		headers      []header
		want         bus.Ping
	}{
		"get":                 {"GET", url, nil, nil, bus.Ping{Kind: bus.PingEnd}},
		"head":                {"HEAD", url + "/start", nil, nil, bus.Ping{Kind: bus.PingStart}},
		"slash":               {"GET", url + "/", nil, nil, bus.Ping{Kind: bus.PingEnd}},
		"post":                {"POST", url + "/1?run=a-1&took=2.5&host=web1", "oh no\n", []header{text}, bus.Ping{Kind: bus.PingEnd, ExitCode: code(1), Key: "a-1", Took: job.Duration(2500 * time.Millisecond), Host: "web1", Output: "oh no\n"}},
		"put":                 {"PUT", url + "/fail?message=disk%20full", nil, nil, bus.Ping{Kind: bus.PingEnd, Failed: true, Message: "disk full"}},
		"age":                 {"POST", url + "?age=90", nil, nil, bus.Ping{Kind: bus.PingEnd, Age: job.Duration(90 * time.Second)}},
		"age of a header":     {"POST", url, nil, []header{{"Carillon-Age", "90"}}, bus.Ping{Kind: bus.PingEnd, Age: job.Duration(90 * time.Second)}},
		"bearer":              {"POST", "/ping", nil, []header{bearer}, bus.Ping{Kind: bus.PingEnd}},
		"start with bearer":   {"POST", "/ping/start?offset=60", nil, []header{bearer}, bus.Ping{Kind: bus.PingStart, UTCOffset: code(60)}},
		"another bearer":      {"GET", url, nil, []header{{"Authorization", "Bearer x"}}, bus.Ping{Kind: bus.PingEnd}},
		"a form":              {"POST", url, "m=1", []header{{"Content-Type", "application/x-www-form-urlencoded"}}, bus.Ping{Kind: bus.PingEnd, Output: "m=1"}},
		"gzip":                {"POST", url, packed.String(), []header{{"Content-Encoding", "gzip"}}, bus.Ping{Kind: bus.PingEnd, Output: "[" + strconv.Itoa(packed.Len()) + " bytes with Content-Encoding \"gzip\" were not unpacked]\n", OutputCut: packed.Len()}},
		"a query that breaks": {"GET", url + "?host=web1&x=%zz;", nil, nil, bus.Ping{Kind: bus.PingEnd, Host: "web1"}},
		"more than 1 MiB":     {"POST", url + "/3", strings.Repeat("x", 1<<20+1), []header{text}, bus.Ping{Kind: bus.PingEnd, ExitCode: code(3), Output: "[a body of more than 1048576 bytes was not read]\n", OutputCut: 1 << 20}},
	} {
		got := w.ping(c.method, c.path, c.body, c.headers...)
		p := w.stored()
		if c.method != "HEAD" && (got.Ping != p.ID || got.Job != string(backup)) {
			t.Errorf("%s: answered %+v, stored %s", name, got, p.ID)
		}
		c.want.ID, c.want.Job, c.want.By = p.ID, backup, made.ID
		if diff := cmp.Diff(c.want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := w.ping("GET", url+"?hots=web1&took=long", nil); !slices.Equal(got.Ignored, []string{"took", "hots"}) {
		t.Errorf("ignored %v", got.Ignored)
	}
	if a := w.send("GET", url, nil, header{"Accept", "text/html"}); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || !strings.Contains(a.text, "stored ping") {
		t.Errorf("for people: %d %s", a.status, a.text)
	}
	long := strings.Repeat("0123456789", 20_000)
	w.ping("POST", url, long, text)
	if p := w.stored(); len(p.Output) > bus.MaxPingOutput || p.OutputCut < len(long)-bus.MaxPingOutput || !strings.HasPrefix(long, p.Output[:8000]) {
		t.Errorf("%d bytes are kept and %d cut", len(p.Output), p.OutputCut)
	}
}

// piecewise is a body of unknown length, which goes in chunks.
type piecewise struct{ io.Reader }

func TestAPingWithALongBodyInChunksCounts(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	for size, kept := range map[int]string{3: "xxx", 3 << 20: "[a body of more than 1048576 bytes was not read]\n"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/ping/"+w.token(backup).Token+"/7?host=web1", piecewise{strings.NewReader(strings.Repeat("x", size))})
		w.check(err)
		a, err := http.DefaultClient.Do(r)
		w.check(err)
		w.check(a.Body.Close())
		if p := w.stored(); a.StatusCode != http.StatusOK || p.ExitCode == nil || *p.ExitCode != 7 || p.Host != "web1" || p.Output != kept {
			t.Errorf("%d bytes: %d %+v", size, a.StatusCode, p)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+unknownPing, piecewise{strings.NewReader(strings.Repeat("x", 1<<20))})
	w.check(err)
	if a, err := http.DefaultClient.Do(r); err == nil { // or the server closes while the client writes
		w.check(a.Body.Close())
		if a.StatusCode < 400 {
			t.Errorf("with no token: %d", a.StatusCode)
		}
	}
}

// Who guesses must not learn what exists, nor how near a guess was.
func TestEveryTokenThatIsNoneIsAnsweredAlike(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	made := w.token(backup)
	secret := made.Token[strings.LastIndex(made.Token, "_")+1:]
	revoked := w.token(backup)
	want[none](w, http.StatusNoContent, "DELETE", pathTokens+"/"+revoked.ID, nil)
	var first string
	for _, path := range []string{
		unknownPing, "/ping", "/ping/", "/ping/start", "/ping/x/y/z", "/ping/carillon_ping_" + made.ID + "_" + strings.Repeat("0", 32), "/ping/carillon_ping_" + made.ID,
		"/ping/carillon_" + made.ID + "_" + secret, "/ping/" + revoked.Token + "/start", "/ping/" + strings.ToLower(made.Token),
	} {
		a := w.send("POST", path, nil)
		var p Problem
		w.check(json.Unmarshal([]byte(a.text), &p))
		p.RequestID = ""
		body, err := json.Marshal(p)
		w.check(err)
		if first == "" {
			first = string(body)
		}
		if a.status != http.StatusNotFound || string(body) != first {
			t.Errorf("%s: %d %s, want %s", path, a.status, body, first)
		}
	}
	if a := w.send("GET", "/pinger/"+made.Token, nil); a.status != http.StatusNotFound {
		t.Errorf("/pinger: %d", a.status)
	}
	w.problem(400, "invalid", "GET", "/ping/"+made.Token+"/begin", nil, `"field":"exit"`, "/start, /end, /fail")
	w.problem(400, "invalid", "GET", "/ping/"+made.Token+"/256", nil, `"field":"exit"`)
	w.problem(400, "invalid", "GET", "/ping/"+made.Token+"?age=-1", nil, `"field":"age"`)
}

func TestABrowserThatOpensTheAddressIsNoPing(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	url := "/ping/" + w.token(backup).Token
	w.ping("GET", url+"?host=before", nil)
	for _, h := range []header{{"Sec-Fetch-Dest", "document"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}, {"X-Moz", "prefetch"}} {
		if a := w.send("GET", url, nil, h, header{"Accept", "text/html"}); a.status != http.StatusConflict || !strings.Contains(a.text, "for programs") {
			t.Errorf("%s: %d %s", h.name, a.status, a.text)
		}
	}
	w.problemWith([]header{{"Origin", "http://evil.example"}}, 403, "forbidden", "POST", url, nil)
	w.problemWith([]header{{"Host", "evil.example"}}, 421, "misdirected", "POST", url, nil)
	if p := w.stored(); p.Host != "before" {
		t.Errorf("stored: %+v", p)
	}
}

func TestPingsComeByTheMethodsThatTheJobNames(t *testing.T) {
	w := newWorld(t)
	w.watched(backup, "POST")
	url := "/ping/" + w.token(backup).Token
	w.ping("POST", url, nil)
	w.ping("PUT", url, nil)
	for _, method := range []string{"GET", "HEAD", "DELETE", "OPTIONS"} {
		if a := w.send(method, url, nil); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST, PUT" {
			t.Errorf("%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
		}
	}
	w.problem(405, "method_not_allowed", "GET", url, nil, "must come by POST, PUT")
	if list, _ := want[PingTokenList](w, http.StatusOK, "GET", pathTokens, nil); list.Refused != (PingsRefused{Method: 5}) {
		t.Errorf("refused: %+v", list.Refused)
	}
}

func TestPingsAreBoundedByJobAndThoseWithoutATokenByAddress(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	w.watched("ops/other")
	first, second, other := "/ping/"+w.token(backup).Token, "/ping/"+w.token(backup).Token, "/ping/"+w.token("ops/other").Token
	refused := func(path string) (statuses map[int]int) {
		statuses = map[int]int{}
		for range 200 {
			a := w.send("POST", path, nil)
			statuses[a.status]++
			if after, err := strconv.Atoi(a.header.Get("Retry-After")); a.status == http.StatusTooManyRequests && (err != nil || after < 1) {
				t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
			}
		}
		return statuses
	}
	if got := refused(first); got[200] < 120 || got[200] > 190 || got[200]+got[429] != 200 {
		t.Errorf("one job: %v", got)
	}
	// One ping a second may come: of a few in a row, the last is too many.
	tooMany := func(path string) string {
		t.Helper()
		for range 100 {
			if a := w.send("POST", path, nil); a.status == http.StatusTooManyRequests {
				return a.text
			}
		}
		t.Errorf("100 pings in a row are not too many: %s", path)
		return ""
	}
	tooMany(second)
	if got := refused(unknownPing); got[404] < 20 || got[404] > 100 || got[404]+got[429] != 200 {
		t.Errorf("unknown tokens: %v", got)
	}
	w.ping("POST", other, nil) // from the same address
	list, _ := want[PingTokenList](w, http.StatusOK, "GET", pathTokens, nil)
	if list.Refused.TooMany < 10 || list.Refused.Method != 0 {
		t.Errorf("refused: %+v", list.Refused)
	}
	if text := tooMany(first); !strings.Contains(text, `"too_many"`) || !strings.Contains(text, "job ops/backup takes 60 pings a minute") {
		t.Errorf("%s", text)
	}
}

func TestAPingOfADeletedJobIsGone(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	url := "/ping/" + w.token(backup).Token
	want[none](w, http.StatusNoContent, "DELETE", "/api/v1/jobs/ops/backup", nil)
	w.problem(410, "gone", "GET", url, nil, "job ops/backup was deleted")
	w.problem(404, "not_found", "POST", pathOfJob, nil, "job ops/backup")
	w.problem(404, "not_found", "GET", pathTokens, nil, "job ops/backup")
	doc := document(backup, "@daily")
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/ops/backup", doc)
	for _, path := range []string{url, pathOfJob, pathTokens} {
		w.problem(409, "conflict", "POST", path, nil, "watch: 30m")
	}
	doc["task"] = map[string]any{"watch": "30m"}
	want[PutJobResult](w, http.StatusOK, "PUT", "/api/v1/jobs/ops/backup", doc)
	w.ping("GET", url, nil)
}

func TestAPingThatIsNotStoredIsNotAnswered(t *testing.T) {
	w := newWorld(t, hasty)
	w.watched(backup)
	url := "/ping/" + w.token(backup).Token
	w.ping("GET", url, nil)
	w.broker.Stop()
	a := w.send("POST", url, nil)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "5" {
		t.Errorf("%d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.text)
	}
	w.problem(404, "not_found", "POST", unknownPing, nil) // tokens are known without the bus
}

func TestARepeatedPingIsStoredOnce(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	url := "/ping/" + w.token(backup).Token
	first := w.ping("POST", url+"?id=1", nil)
	w.ping("POST", url+"?id=1", nil)
	if p := w.stored(); p.ID != first.Ping {
		t.Errorf("%s is stored after %s", p.ID, first.Ping)
	}
	second := w.ping("POST", url+"?id=2", nil)
	if p := w.stored(); p.ID != second.Ping {
		t.Errorf("%s is stored, want %s", p.ID, second.Ping)
	}
	w.ping("POST", "/ping/"+w.token(backup).Token+"?id=2", nil)
	if p := w.stored(); p.ID == second.Ping {
		t.Error("the same id with another token is a repeat")
	}
}

func TestAJobIsPingedWithAnAPITokenForPings(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	doc := map[string]any{"job": backup, "task": map[string]any{"watch": "30m"}}
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/ops/backup", doc, ann.headers()...)
	wrapper := ann.token(rights.Access{Role: rights.Operator, Group: "ops"}, rights.Ping)
	five := 5
	got, _ := want[PingAccepted](g.world, http.StatusOK, "POST", pathOfJob+"?host=web1&exit=4&x=1", map[string]any{
		"kind": "end", "run": "k", "age": 1.5, "took": 60, "exit": 5, "message": "no", "id": "1", "output": "a\nb\n", "extra": []int{1},
	}, wrapper...)
	if !slices.Equal(got.Ignored, []string{"extra", "x"}) {
		t.Errorf("ignored %v", got.Ignored)
	}
	p := g.stored()
	if diff := cmp.Diff(bus.Ping{
		ID: got.Ping, Job: backup, Kind: bus.PingEnd, Key: "k", Age: job.Duration(1500 * time.Millisecond), Took: job.Duration(time.Minute), ExitCode: &five,
		Message: "no", Output: "a\nb\n", Host: "web1", By: "ann",
	}, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want[PingAccepted](g.world, http.StatusOK, "POST", pathOfJob+"?kind=start", nil, wrapper...)
	if p := g.stored(); p.Kind != bus.PingStart {
		t.Errorf("%+v", p)
	}
	g.problemWith(wrapper, 400, "invalid", "POST", pathOfJob, `{"exit":256}`, `"field":"exit"`)
	g.problemWith(wrapper, 400, "invalid", "POST", pathOfJob, `{"age":-1}`, `"field":"age"`)
	g.problemWith(wrapper, 400, "invalid", "POST", pathOfJob, `{"kind":"log"}`, `"field":"kind"`)
	g.problemWith(wrapper, 403, "forbidden", "GET", pathTokens, nil, "of the kind ping")
	g.problemWith(wrapper, 403, "forbidden", "POST", "/api/v1/jobs/payroll/x/ping", nil)
	g.problemWith(ann.token(rights.Access{Role: rights.Viewer, Group: "ops"}), 403, "forbidden", "POST", pathOfJob, nil)
	g.problem(401, "unauthenticated", "POST", pathOfJob, nil)
	if a := g.send("POST", "/ping/start", nil, wrapper...); a.status != http.StatusNotFound {
		t.Errorf("an API token at /ping: %d", a.status)
	}
}

func TestPingTokensAreShownOnceAndRotated(t *testing.T) {
	w := newWorld(t)
	w.watched(backup)
	first := w.token(backup)
	if first.URL != w.url+"/ping/"+first.Token || !first.URLFromRequest {
		t.Errorf("%+v", first)
	}
	w.ping("POST", "/ping/"+first.Token+"?host=web1", nil)
	w.problem(400, "invalid", "POST", pathTokens, `{"overlap":"1d"}`, `"field":"overlap"`, "rotate")
	w.problem(400, "invalid", "POST", pathTokens, `{"rotate":true,"overlap":"91d"}`, `"field":"overlap"`)
	second, _ := want[NewPingToken](w, http.StatusCreated, "POST", pathTokens, map[string]any{"rotate": true})
	list, _ := want[PingTokenList](w, http.StatusOK, "GET", pathTokens, nil)
	if len(list.Items) != 2 || list.Items[0].ID != second.ID || list.Items[0].EndsAt != nil || list.Items[0].LastUsedAt != nil {
		t.Fatalf("%+v", list.Items)
	}
	old := list.Items[1]
	if old.ID != first.ID || old.EndsAt == nil || old.EndsAt.Sub(second.CreatedAt).Round(time.Second) != 7*24*time.Hour || old.LastUsedAt == nil || old.LastHost != "web1" {
		t.Errorf("%+v", old)
	}
	want[NewPingToken](w, http.StatusCreated, "POST", pathTokens, map[string]any{"rotate": true, "overlap": "0s"})
	for _, token := range []string{first.Token, second.Token} {
		w.problem(404, "not_found", "POST", "/ping/"+token, nil)
	}
	for range 4 {
		w.token(backup)
	}
	w.problem(409, "conflict", "POST", pathTokens, nil, "5 ping tokens")
	w.problem(404, "not_found", "DELETE", pathTokens+"/x", nil, "has no ping token")

	entries, _ := want[AuditLogPage](w, http.StatusOK, "GET", "/api/v1/audit-log?limit=100", nil)
	text, err := json.Marshal(entries)
	w.check(err)
	if !strings.Contains(string(text), "ping token "+first.ID+" of job ops/backup") || strings.Contains(string(text), first.Token) {
		t.Errorf("the audit log has %s", text)
	}
}

func TestTheAddressForPingsIsThatOfThePublicURL(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.PublicURL = "https://carillon.example.org/" })
	w.watched(backup)
	if made := w.token(backup); made.URL != "https://carillon.example.org/ping/"+made.Token || made.URLFromRequest {
		t.Errorf("%+v", made)
	}
}

// heard collects what is logged.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// The secret of a ping is in its path, which servers, proxies and people copy everywhere.
func TestTheSecretOfAPingIsInNothingThatTheServerSays(t *testing.T) {
	log := &heard{}
	w := newWorld(t, func(c *Config, _ *world) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w.watched(backup, "GET", "POST")
	token := w.token(backup).Token
	secret := token[strings.LastIndex(token, "_")+1:]
	bearer := header{"Authorization", "Bearer " + token}
	said := map[string]string{}
	try := func(method, path string, body any, headers ...header) {
		t.Helper()
		a := w.send(method, path, body, headers...)
		said[method+" "+strings.ReplaceAll(path, token, "TOKEN")] = a.text
	}
	for _, path := range []string{
		"/ping/" + token, "/ping/" + token + "/start", "/ping/" + token + "/256", "/ping/" + token + "/1/2", "/ping//" + token, "//ping/" + token, "/ping/x" + token, "/" + token,
		"/pong/" + token, "/api/v1/ping/" + token, "/api/" + token, "/assets/" + token, "/ping?x=" + token, "/api/v1/jobs?x=" + token, "/api/v1/jobs/ops/backup/ping-tokens/" + token,
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"} {
			try(method, path, nil)
		}
		try("GET", path, nil, header{"Sec-Fetch-Dest", "document"})
		try("POST", path, strings.Repeat("x", 2<<20), header{"Content-Type", "text/plain"})
		try("POST", path, nil, header{"Host", "evil.example"})
	}
	try("POST", "/ping/start", nil, bearer)
	try("POST", "/ping/nonsense", nil, bearer)
	try("POST", "/api/v1/jobs/ops/backup/ping", nil, bearer)
	for range 150 {
		w.send("POST", "/ping/"+token, nil)
	}
	try("GET", "/metrics", nil)
	try("GET", pathTokens, nil)
	try("GET", "/api/v1/audit-log", nil)
	for name, text := range unzip(t, w.send("POST", "/api/v1/diagnostics", nil).text) {
		said["diagnostics "+name] = text
	}
	said["log"] = log.String()
	if !strings.Contains(said["log"], "request refused") || !strings.Contains(said["log"], "path=/ping/…") {
		t.Errorf("the log has no pings: %.2000s", said["log"])
	}
	for where, text := range said {
		if strings.Contains(text, secret) {
			i := strings.Index(text, secret)
			t.Errorf("%s: …%s", where, text[max(0, i-200):min(len(text), i+50)])
		}
	}
}
