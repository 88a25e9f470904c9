package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

const someRun = job.RunID("019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d")

// serve answers with handler and returns an API that asks it.
func serve(t *testing.T, handler http.HandlerFunc) *API {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := New(server.URL, "ada")
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func answer(w http.ResponseWriter, status int, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestProblemsBecomeTheErrorsOfPackageJob(t *testing.T) {
	f := func(p Problem, want error, text string) {
		t.Helper()
		api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, p.Status, "application/problem+json", p)
		})
		_, err := Read[JobItem](api.GetJob(t.Context(), "ops", "backup", &GetJobParams{}))
		if !errors.Is(err, want) || err.Error() != text {
			t.Errorf("got  %v\nwant %s", err, text)
		}
	}
	f(Problem{Status: 404, Code: "not_found", Detail: "job ops/backup"}, job.ErrNotFound, "not found: job ops/backup")
	f(Problem{Status: 412, Code: "precondition_failed", Detail: "it changed"}, job.ErrConflict, "it changed")
	f(Problem{Status: 503, Code: "unavailable", Title: "A part of the system is away"}, job.ErrUnavailable, "a part of the system is away")
	f(Problem{Status: 400, Code: "invalid", Errors: []FieldError{{Field: "schedule.cron", Reason: "is wrong"}, {Reason: "odd"}}}, job.ErrInvalid, "schedule.cron is wrong\nodd")
}

func TestARequestHasItsParametersAndBody(t *testing.T) {
	var heard []string
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard = append(heard, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("If-Match"), body)))
		w.WriteHeader(http.StatusNoContent)
	})
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	_, err := Read[None](api.GetJob(t.Context(), "ops", "a b/c?", nil))
	_, err2 := Read[None](api.ListRuns(t.Context(), &ListRunsParams{Job: &[]string{"ops/a", "ops/b&c"}, From: &from, Limit: new(7)}))
	_, err3 := Read[None](api.DeleteDeadLetter(t.Context(), 42))
	_, err4 := Read[None](api.ResumeJob(t.Context(), "ops", "a", &ResumeJobParams{IfMatch: new(`"3"`)}, Note{Note: "x"}))
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"GET /api/v1/jobs/ops/a%20b%2Fc%3F",
		"GET /api/v1/runs?job=ops%2Fa&job=ops%2Fb%26c&from=2026-01-02T03%3A04%3A05Z&limit=7",
		"DELETE /api/v1/dead-letters/42",
		`POST /api/v1/jobs/ops/a/resume application/json "3" {"note":"x"}`,
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherProgramsAnswersAreToldApart(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if strings.HasSuffix(r.URL.Path, "nodes") {
			status = http.StatusNotFound
		}
		answer(w, status, "text/html", "<h1>hello</h1>")
	})
	_, err := Read[NodeList](api.ListNodes(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "is another program listening there?") {
		t.Errorf("got %v", err)
	}
	_, err = Read[GroupList](api.ListGroups(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "is a Carillon server listening there?") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatIsAwayIsUnavailable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	api, err := New(server.Listener.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read[NodeList](api.ListNodes(t.Context()))
	if away, ok := errors.AsType[*UnreachableError](err); !ok || away.Address != server.URL || !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read[NodeList](api.ListNodes(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was called off", err)
	}
	for _, wrong := range []string{"", "http://", "ftp://x", "http://a b"} {
		if _, err := New(wrong, ""); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}

func TestPagesAreJoined(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Carillon-User"); got != "ada" {
			t.Errorf("the user is %q", got)
		}
		q := r.URL.Query()
		if q.Get("group") != "ops" {
			t.Errorf("a page was asked for without its filter: %s", r.URL)
		}
		var first, limit int
		_, _ = fmt.Sscan(q.Get("cursor"), &first)
		_, _ = fmt.Sscan(q.Get("limit"), &limit)
		page := JobPage{Total: 5, Items: []JobItem{}}
		for i := first; i < min(first+limit, first+2, 5); i++ {
			page.Items = append(page.Items, JobItem{Revision: uint64(i)})
		}
		if next := first + len(page.Items); next < 5 {
			page.Next = strconv.Itoa(next)
		}
		answer(w, http.StatusOK, "application/json", page)
	})
	f := func(most, want int, more bool) {
		t.Helper()
		page, err := api.Jobs(t.Context(), ListJobsParams{Group: new("ops")}, most)
		if err != nil || len(page.Items) != want || (page.Next != "") != more {
			t.Errorf("got %d jobs, next %q, error %v", len(page.Items), page.Next, err)
		}
		for i, item := range page.Items {
			if item.Revision != uint64(i) {
				t.Errorf("job %d is job %d", i, item.Revision)
			}
		}
	}
	f(0, 5, false)
	f(3, 3, true)
	f(5, 5, false)
}

// printed is a line of a log in these tests.
func printed(seq int64) LogLine {
	return LogLine{RunID: someRun, Job: "ops/backup", Attempt: 2, Seq: seq, Text: fmt.Sprintf("line %d", seq)}
}

func sendLines(w http.ResponseWriter, seqs ...int64) {
	var lines []LogLine
	for _, s := range seqs {
		lines = append(lines, printed(s))
	}
	data, _ := json.Marshal(lines)
	_, _ = fmt.Fprintf(w, ": hello\nid: 2:%d\nevent: lines\ndata: %s\n\n", seqs[len(seqs)-1], data)
	w.(http.Flusher).Flush()
}

func TestATailGoesOnAfterLostConnectionsWithoutLossOrRepeat(t *testing.T) {
	connection := 0
	var asked []string
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connection++
		asked = append(asked, r.URL.Query().Get("attempt")+" "+r.Header.Get("Last-Event-ID"))
		if connection == 2 {
			answer(w, http.StatusServiceUnavailable, "application/problem+json", Problem{Status: 503, Code: "unavailable"})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		switch connection {
		case 1:
			sendLines(w, 1, 2)
			_, _ = fmt.Fprint(w, "event: lines\ndata: [{\"run_id\"") // cut off within a line
		case 3:
			sendLines(w, 2, 3) // the server may not know better
			_, _ = fmt.Fprint(w, "event: bye\ndata: {}\n\n")
		case 4:
			sendLines(w, 4)
			end, _ := json.Marshal(LogEnd{Run: Run{RunID: someRun, Status: job.StatusSucceeded}, Missing: 1})
			_, _ = fmt.Fprintf(w, "event: end\ndata: %s\n\n", end)
		}
	})
	var got []int64
	interruptions := 0
	end, err := api.Tail(t.Context(), someRun, TailOptions{Interrupted: func(error) { interruptions++ }}, func(lines []LogLine) error {
		for _, l := range lines {
			got = append(got, l.Seq)
		}
		return nil
	})
	if err != nil || end.Run.Status != job.StatusSucceeded || end.Missing != 1 {
		t.Errorf("got %+v, %v", end, err)
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{" ", " 2:2", " 2:2", " 2:3"}, asked); diff != "" {
		t.Error(diff)
	}
	if interruptions != 3 {
		t.Errorf("told of %d interruptions, want 3", interruptions)
	}
}

func TestATailEndsWhenTheServerRefusesOrTheReaderHasEnough(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("attempt") == "9" {
			answer(w, http.StatusNotFound, "application/problem+json", Problem{Status: 404, Code: "not_found", Detail: "no attempt 9"})
			return
		}
		sendLines(w, 1)
		<-r.Context().Done()
	})
	enough := errors.New("enough")
	if _, err := api.Tail(t.Context(), someRun, TailOptions{Attempt: 9}, nil); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if _, err := api.Tail(t.Context(), someRun, TailOptions{}, func([]LogLine) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the reader's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := api.Tail(ctx, someRun, TailOptions{}, func([]LogLine) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was called off", err)
	}
}
