package request_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/request"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
)

// serve starts a server that the executors of newWorld may call.
func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server
}

func newWorld(t *testing.T, allow ...string) *runnertest.World {
	t.Helper()
	return runnertest.New(t, executor.Config{Instance: "one"}, func(e *executor.Executor) {
		if err := request.Register(e, request.Config{Allow: allow, MaxBody: 1000}); err != nil {
			t.Fatal(err)
		}
	})
}

func call(h job.HTTP) job.Task { return job.Task{HTTP: &h} }

func TestTheStatusDecides(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, "{\"rows\":\n7}")
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, "the database is away\nmore")
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = fmt.Fprint(w, "\x89PNG\x00\xff")
		case "/long":
			_, _ = fmt.Fprint(w, strings.Repeat("0123456789\n", 200))
		case "/away":
			http.Redirect(w, r, "/json", http.StatusFound)
		}
	})
	w := newWorld(t, "127.0.0.1")
	ends := func(h job.HTTP, status job.Status, message, result string, lines ...string) {
		t.Helper()
		h.URL = server.URL + h.URL
		e, text := w.Run(call(h))
		runnertest.WantEnd(t, e, status, -1, message)
		if diff := cmp.Diff(result, string(e.Result)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		for _, line := range lines {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("the log has no line %q:\n%s", line, text)
			}
		}
	}
	ends(job.HTTP{URL: "/json"}, job.StatusSucceeded, "", `{"status":200,"body":{"rows":7}}`, `stdout: {"rows":`, `stdout: 7}`)
	ends(job.HTTP{URL: "/busy"}, job.StatusFailed, "answered 503 Service Unavailable: the database is away", "", "stdout: more")
	ends(job.HTTP{URL: "/busy", Success: []string{"2xx", "503"}}, job.StatusSucceeded, "", `{"status":503,"body":"the database is away\nmore\n"}`)
	ends(job.HTTP{URL: "/json", Success: []string{"300-399"}}, job.StatusFailed, "answered 200 OK", "")
	ends(job.HTTP{URL: "/picture"}, job.StatusSucceeded, "", `{"status":200}`, "log: the body is not text, and is not logged content_type=image/png")
	ends(job.HTTP{URL: "/long"}, job.StatusSucceeded, "", `{"status":200,"body":"`+strings.Repeat(`0123456789\n`, 90)+`0123456789"}`, "log: the rest of the body was not read limit=1000")
	ends(job.HTTP{URL: "/away"}, job.StatusFailed, "answered 302 Found: a redirect to "+server.URL+", and follow_redirects is not set", "")
	ends(job.HTTP{URL: "/away", FollowRedirects: true}, job.StatusSucceeded, "", `{"status":200,"body":{"rows":7}}`)
}

func TestARequestTellsOfItsRun(t *testing.T) {
	var got *http.Request
	var body string
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r, string(data)
	})
	w := newWorld(t, "127.0.0.1")
	send := func(task job.Task, change ...func(*bus.Trigger)) *bus.Event {
		t.Helper()
		e, _ := w.Run(task, change...)
		runnertest.WantEnd(t, e, job.StatusSucceeded, -1, "")
		return e
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}

	e := send(call(job.HTTP{Method: "POST", URL: server.URL}), runnertest.Params(`{"region":"north"}`), func(t *bus.Trigger) {
		t.Attempt, t.Piece = 2, bus.Piece{Index: 1, Total: 3}
	})
	want("method", got.Method, "POST")
	want("body", body, `{"region":"north"}`)
	want("content type", got.Header.Get("Content-Type"), "application/json")
	want("run id", got.Header.Get("Carillon-Run-Id"), string(e.RunID))
	want("job", got.Header.Get("Carillon-Job"), "g/job")
	if fence := got.Header.Get("Carillon-Fence"); fence == "" || fence == "0" {
		t.Errorf("fence %q", fence)
	}
	want("attempt", got.Header.Get("Carillon-Attempt"), "2")
	want("cause", got.Header.Get("Carillon-Cause"), "schedule")
	want("fire time", got.Header.Get("Carillon-Fire-Time"), "2026-01-05T02:00:01.000Z")
	want("index", got.Header.Get("Carillon-Broadcast-Index"), "1")
	want("total", got.Header.Get("Carillon-Broadcast-Total"), "3")
	want("key", got.Header.Get("Idempotency-Key"), string(e.RunID)+"-2-1")

	task := call(job.HTTP{
		Method: "PUT", URL: server.URL + "/${params.region}?at=${CARILLON_FIRE_TIME}",
		Headers: map[string]string{"X-Team": "${TEAM}", "Content-Type": "text/csv", "Host": "other.example"},
		Body:    "$${x},${params.limits.max},${CARILLON_JOB}",
		Auth:    job.HTTPAuth{User: "ann", Password: "p:w"},
	})
	task.Env = map[string]string{"TEAM": "a\nb"}
	send(task, runnertest.Params(`{"region": "a/b c&d", "limits": {"max": 5}}`))
	want("address", got.RequestURI, "/a%2Fb%20c%26d?at=2026-01-05T02%3A00%3A02.000Z")
	want("body", body, "${x},5,g/job")
	want("header", got.Header.Get("X-Team"), "ab")
	want("content type", got.Header.Get("Content-Type"), "text/csv")
	want("host", got.Host, "other.example")
	user, password, _ := got.BasicAuth()
	want("user", user+" "+password, "ann p:w")

	send(call(job.HTTP{URL: server.URL, Auth: job.HTTPAuth{Bearer: "t0ken"}}))
	want("authorization", got.Header.Get("Authorization"), "Bearer t0ken")

	e, _ = w.Run(call(job.HTTP{URL: server.URL + "/${params.region}"}))
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "fill in task.http.url: the run has no ${params.region}")
}

func TestPrivateAddressesAreRefusedAndSoAreRedirectsToThem(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := net.SplitHostPort(r.Host)
		http.Redirect(w, r, "http://127.0.0.2:"+port+"/admin", http.StatusTemporaryRedirect)
	})
	e, _ := newWorld(t).Run(call(job.HTTP{URL: server.URL}))
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "127.0.0.1 is a private address, which is not called; start this executor with --http-allow 127.0.0.1 if it should be")
	e, _ = newWorld(t, "127.0.0.1").Run(call(job.HTTP{URL: server.URL, FollowRedirects: true}))
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "127.0.0.2 is a private address")
}

func TestARedirectToAnotherHostTakesNothingAlong(t *testing.T) {
	var got http.Header
	second := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, second.URL, http.StatusPermanentRedirect)
	})
	w := newWorld(t, "127.0.0.1")
	e, _ := w.Run(call(job.HTTP{URL: first.URL + "?key=k", FollowRedirects: true, Headers: map[string]string{"X-Api-Key": "k"}, Auth: job.HTTPAuth{Bearer: "b"}}))
	runnertest.WantEnd(t, e, job.StatusSucceeded, -1, "")
	for _, name := range []string{"X-Api-Key", "Authorization", "Referer"} {
		if got.Get(name) != "" {
			t.Errorf("%s went along: %q", name, got.Get(name))
		}
	}
	e, _ = w.Run(call(job.HTTP{Method: "POST", Body: "b", URL: first.URL, FollowRedirects: true}))
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "which must not see the body")
}

func TestATimeoutEndsARequest(t *testing.T) {
	release := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = fmt.Fprintln(w, "begun")
			w.(http.Flusher).Flush()
		}
		<-release
	})
	t.Cleanup(func() { close(release) }) // before the server waits for its handlers
	w := newWorld(t, "127.0.0.1")
	for _, path := range []string{"/", "/late"} {
		e, _ := w.Run(call(job.HTTP{URL: server.URL + path}), runnertest.Timeout(200*time.Millisecond))
		runnertest.WantEnd(t, e, job.StatusTimedOut, -1, "took longer than its timeout of 200ms")
	}
}

func TestNobodyThereFailsTheRun(t *testing.T) {
	server := serve(t, nil)
	server.Close()
	e, _ := newWorld(t, "127.0.0.1").Run(call(job.HTTP{URL: server.URL + "/x?key=k"}))
	runnertest.WantEnd(t, e, job.StatusFailed, -1, "send GET "+server.URL+": dial tcp")
}

// TestNoMessageHasMoreOfAnAddressThanItsHost holds since who may see that a run has failed may not see its task.
func TestNoMessageHasMoreOfAnAddressThanItsHost(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("do") {
		case "cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("begun"))
		case "hang up":
			panic(http.ErrAbortHandler)
		case "redirect":
			w.Header().Set("Location", "/s3cret/x?do=redirect&k=s3cret")
			w.WriteHeader(http.StatusFound)
		case "leave":
			w.Header().Set("Location", "ftp://s3cret:s3cret@other.example/s3cret")
			w.WriteHeader(http.StatusFound)
		case "fail":
			http.Error(w, "no", http.StatusInternalServerError)
		}
	})
	closed := serve(t, nil)
	closed.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	w := newWorld(t, "127.0.0.1")
	for _, follow := range []bool{false, true} {
		for _, address := range []string{
			"http://s3cret:s3cret@" + host + "/s3cret?k=s3cret&do=cut", "http://s3cret@" + host + "/s3cret?do=hang%20up", server.URL + "/s3cret?do=redirect",
			server.URL + "/?do=leave", server.URL + "/s3cret?do=fail", closed.URL + "/s3cret?k=s3cret",
			"http://" + host + "/%zzs3cret", "http://127.0.0.1:s3cret/", "http://[s3cret/", "ftp://s3cret@x/s3cret", "http://127.0.0.1/\x7fs3cret", "http://us er:s3cret@x/", ":s3cret",
		} {
			e, log := w.Run(call(job.HTTP{URL: address, FollowRedirects: follow}))
			if e.Status != job.StatusFailed {
				t.Errorf("%s: %s", address, e.Status)
			}
			if strings.Contains(e.Message+log, "s3cret") {
				t.Errorf("%s: the message is %q, the log %q", address, e.Message, log)
			}
		}
	}
}
