package webapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/logstore"
)

// askedStore answers any SQL with n rows; without rows, a statement lasts until it is
// called off.
type askedStore struct {
	logstore.Store
	n     int
	audit bool // of the last
	asked chan string
	ended chan error
}

type askedRows struct {
	s    *askedStore
	ctx  context.Context
	next int
}

func (s *askedStore) Ask(ctx context.Context, statement string, audit bool) (logstore.Answer, error) {
	if statement == "SELEC" {
		return nil, job.Invalid("query", "is refused by ClickHouse: syntax error")
	}
	s.asked <- statement
	s.audit = audit
	return &askedRows{s: s, ctx: ctx}, nil
}

func (r *askedRows) Columns() []logstore.AnswerColumn {
	return []logstore.AnswerColumn{{Name: "job", Type: "String"}, {Name: "n", Type: "UInt64"}, {Name: "list", Type: "Array(String)"}}
}

func (r *askedRows) Next() ([]any, error) {
	if r.s.n == 0 {
		<-r.ctx.Done()
		r.s.ended <- context.Cause(r.ctx)
		return nil, r.ctx.Err()
	}
	if r.next == r.s.n {
		return nil, nil
	}
	r.next++
	return []any{"=billing/x", uint64(r.next), []any{"a", nil}}, nil
}

func (r *askedRows) Close() error { return nil }

func newAskedWorld(t *testing.T, n int) (*world, *askedStore) {
	t.Helper()
	s := &askedStore{n: n, asked: make(chan string, 10), ended: make(chan error, 10)}
	return newWorld(t, func(_ *Config, w *world) { s.Store, w.store = w.store, s }), s
}

func TestAnswersToSQLComeInThreeFormats(t *testing.T) {
	w, s := newAskedWorld(t, 3)
	check := func(body map[string]any, kind, expected string) {
		t.Helper()
		body["query"] = "SELECT 1"
		a := w.send("POST", "/api/v1/sql", body)
		if diff := cmp.Diff(expected, a.text); diff != "" || a.status != http.StatusOK || a.header.Get("Content-Type") != kind {
			t.Errorf("%v: %d, %s (-want +got):\n%s", body, a.status, a.header.Get("Content-Type"), diff)
		}
		if got := <-s.asked; got != "SELECT 1" {
			t.Errorf("the store was asked %q", got)
		}
	}
	const columns = `{"columns":[{"name":"job","type":"String"},{"name":"n","type":"UInt64"},{"name":"list","type":"Array(String)"}],"rows":[`
	check(map[string]any{}, "application/json", columns+`["=billing/x",1,["a",null]],`+"\n"+`["=billing/x",2,["a",null]],`+"\n"+`["=billing/x",3,["a",null]]],"truncated":false}`+"\n")
	check(map[string]any{"max_rows": 1}, "application/json", columns+`["=billing/x",1,["a",null]]],"truncated":true}`+"\n")
	check(map[string]any{"format": "ndjson", "max_rows": 2}, "application/x-ndjson", `{"job":"=billing/x","n":1,"list":["a",null]}`+"\n"+`{"job":"=billing/x","n":2,"list":["a",null]}`+"\n")
	check(map[string]any{"format": "csv"}, "text/csv; charset=utf-8", "job,n,list\n'=billing/x,1,\"[\"\"a\"\",null]\"\n'=billing/x,2,\"[\"\"a\"\",null]\"\n'=billing/x,3,\"[\"\"a\"\",null]\"\n")

	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/sql", map[string]any{"query": "SELEC"}, "query", "syntax error")
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/sql", map[string]any{"query": "SELECT 1", "timeout": "61s"}, "timeout", "60s")
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/sql", map[string]any{"query": ""}, "query")
}

func TestAStoreWithoutSQLSaysSo(t *testing.T) {
	w := newWorld(t)
	w.problem(http.StatusConflict, "conflict", "POST", "/api/v1/sql", map[string]any{"query": "SELECT 1"}, "ClickHouse")
}

func TestAStatementEndsWithItsClient(t *testing.T) {
	w, s := newAskedWorld(t, 0)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.server.Addr().String())
	w.check(err)
	body := `{"query":"SELECT 1","timeout":"60s"}`
	_, err = fmt.Fprintf(conn, "POST /api/v1/sql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", w.server.Addr(), len(body), body)
	w.check(err)
	<-s.asked
	begun := time.Now()
	w.check(conn.Close())
	if err := <-s.ended; err == nil {
		t.Error("the statement was not called off")
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the statement went on for %s", took)
	}
}

func TestAStatementEndsWithItsTime(t *testing.T) {
	w, s := newAskedWorld(t, 0)
	a := w.send("POST", "/api/v1/sql", map[string]any{"query": "SELECT 1", "timeout": job.Duration(200 * time.Millisecond)})
	if a.status != http.StatusServiceUnavailable && a.status != http.StatusBadRequest {
		t.Errorf("the answer is %d: %s", a.status, a.text)
	}
	if err := <-s.ended; err == nil {
		t.Error("the statement was not called off")
	}
}

// An answer has what is in the store, whatever group it is of, so the grant counts only
// together with the right to see all of it.
func TestTheGrantForSQLCountsOnlyWhereAllIsSeen(t *testing.T) {
	s := &askedStore{n: 1, asked: make(chan string, 100), ended: make(chan error, 1)}
	g := newGuardedWorld(t, func(_ *Config, w *world) { s.Store, w.store = w.store, s })
	ann := g.administrator()
	n := 0
	f := func(may bool, access ...rights.Access) {
		t.Helper()
		n++
		bob := ann.person(fmt.Sprintf("bob%d", n), access...)
		a := g.send("POST", "/api/v1/sql", map[string]any{"query": "SELECT 1"}, bob.headers()...)
		if expected := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[may]; a.status != expected {
			t.Errorf("%v: %d %s", access, a.status, a.text)
		}
		if may && s.audit {
			t.Errorf("%v: it may read the audit log", access)
		}
	}
	grants := func(grants ...rights.Grant) []rights.Grant { return grants }
	all := rights.Access{Role: rights.Viewer, Group: rights.Everywhere, Grants: grants(rights.SQL, rights.Logs, rights.Params)}
	f(true, all)
	f(false, rights.Access{Role: rights.Viewer, Group: rights.Everywhere})
	f(false, rights.Access{Role: rights.Editor, Group: rights.Everywhere})
	f(false, rights.Access{Role: rights.Viewer, Group: rights.Everywhere, Grants: grants(rights.SQL)})
	f(false, rights.Access{Role: rights.Viewer, Group: rights.Everywhere, Grants: grants(rights.SQL, rights.Logs)})
	f(false, rights.Access{Role: rights.Viewer, Group: "billing", Grants: all.Grants})
	f(false, rights.Access{Role: rights.Admin, Group: "billing"})
	f(false, rights.Access{Role: rights.Viewer, Group: "billing", Grants: all.Grants}, rights.Access{Role: rights.Editor, Group: rights.Everywhere})
	f(true, rights.Access{Role: rights.Viewer, Group: rights.Everywhere, Grants: grants(rights.SQL)}, rights.Access{Role: rights.Operator, Group: rights.Everywhere})

	if a := g.send("POST", "/api/v1/sql", map[string]any{"query": "SELECT 1"}, ann.headers()...); a.status != http.StatusOK || !s.audit {
		t.Errorf("an administrator gets %d; may read the audit log: %t", a.status, s.audit)
	}
	// A token has it as its own list and its user's say.
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": "ci", "access": []rights.Access{{Role: rights.Viewer, Group: rights.Everywhere}}}, ann.headers()...)
	g.problemWith([]header{{"Authorization", "Bearer " + made.Secret}}, http.StatusForbidden, "forbidden", "POST", "/api/v1/sql", map[string]any{"query": "SELECT 1"}, "sql")
	made, _ = want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": "bi", "access": []rights.Access{all}}, ann.headers()...)
	if a := g.send("POST", "/api/v1/sql", map[string]any{"query": "SELECT 1"}, header{"Authorization", "Bearer " + made.Secret}); a.status != http.StatusOK || s.audit {
		t.Errorf("a token with the grant gets %d; may read the audit log: %t", a.status, s.audit)
	}
}
