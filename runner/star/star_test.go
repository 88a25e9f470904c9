package star_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/runner/star"
)

// run executes source and returns its result and what it printed.
func run(ctx context.Context, source string, change ...func(*star.Script)) (result, printed string, err error) {
	var out strings.Builder
	s := star.Script{File: "job.star", Source: []byte(source), Output: &out}
	for _, f := range change {
		f(&s)
	}
	encoded, err := star.Run(ctx, s)
	return string(encoded), out.String(), err
}

func params(text string) func(*star.Script) {
	return func(s *star.Script) { s.Params = []byte(text) }
}

func TestAScriptSeesItsRunAndGivesAResult(t *testing.T) {
	f := func(source, result, printed string, change ...func(*star.Script)) {
		t.Helper()
		gotResult, gotPrinted, err := run(t.Context(), source, change...)
		if err != nil || gotResult != result || gotPrinted != printed {
			t.Errorf("%s\ngave %s and printed %q, %v; want %s and %q", source, gotResult, gotPrinted, err, result, printed)
		}
	}
	f(`print("hello", 1)`, "", "hello 1\n")
	f(`result = [params["region"], params["rows"] * 2]`, `["north",14]`, "", params(`{"region": "north", "rows": 7}`))
	f(`result = params`, `null`, "")
	f(`result = params + "!"`, `"x!"`, "", params(`"x"`))
	f("n = 0\nwhile n < 3:\n  n += 1\nresult = n", "3", "") // control flow on the top level
	f(`result = [run.job, run.step, run.attempt, run.index, run.total, env["TOKEN"], item]`, `["g/a","load",2,1,3,"t","x"]`, "", func(s *star.Script) {
		s.Env = map[string]string{
			"CARILLON_JOB": "g/a", "CARILLON_STEP": "load", "CARILLON_ATTEMPT": "2", "CARILLON_BROADCAST_INDEX": "1", "CARILLON_BROADCAST_TOTAL": "3",
			"CARILLON_ITEM": `"x"`, "TOKEN": "t",
		}
	})
	f(`result = json.decode('{"a": 1}')["a"] + math.floor(1.5) + time.parse_duration("2s").seconds`, "4.0", "")
}

func TestWhatGoesWrongIsTracedToItsLine(t *testing.T) {
	f := func(source string, parts ...string) {
		t.Helper()
		_, _, err := run(t.Context(), source)
		if err == nil {
			t.Errorf("%s: no error", source)
			return
		}
		for _, p := range parts {
			if !strings.Contains(err.Error(), p) {
				t.Errorf("%s: %v, want %q in it", source, err, p)
			}
		}
	}
	f("def f():\n  fail(\"no rows\")\nf()", "job.star:2:7", "in f", "no rows")
	f("x = (", "job.star:1:6")
	f("open('/etc/passwd')", "undefined: open")
	f("load('os.star', 'x')", "there is nothing to load")
	f("result = fail", "encode result")
	f("http('GET', 'http://127.0.0.1')", "not allowed on this executor")
	f("sleep(-1)", "seconds must be a number from 0 up")
}

func TestAScriptSendsRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Served", "yes")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"method": %q, "type": %q, "token": %q, "body": %q}`, r.Method, r.Header.Get("Content-Type"), r.Header.Get("X-Token"), body)
	}))
	t.Cleanup(server.Close)
	source := fmt.Sprintf(`
a = http("POST", %q, headers = {"X-Token": "t"}, json = {"rows": 7})
result = [a.status, a.headers["X-Served"], a.json()["method"], a.json()["type"], a.json()["token"], a.json()["body"], len(a.body) > 0]
`, server.URL)
	got, _, err := run(t.Context(), source, func(s *star.Script) { s.Client = server.Client() })
	if want := `[202,"yes","POST","application/json","t","{\"rows\":7}",true]`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestAScriptThatNeverEndsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("time is over")
		for _, source := range []string{"while True:\n  sleep(5)", "sleep(1000000)"} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, gone)
			if _, _, err := run(ctx, source); err == nil || !strings.Contains(err.Error(), gone.Error()) {
				t.Errorf("%s: %v", source, err)
			}
			cancel()
		}
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("time is over"))
	defer cancel()
	if _, _, err := run(ctx, "while True:\n  pass"); err == nil || !strings.Contains(err.Error(), "time is over") {
		t.Error(err)
	}
}
