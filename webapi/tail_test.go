package webapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/stream"
)

// listener reads a tail.
type listener struct {
	*testing.T
	body *bufio.Scanner
}

// patience is how long a stream may last: no test needs as long, however slow the machine is.
const patience = 5 * time.Minute

// listen opens a tail. It returns when the server has subscribed: the first comment
// comes before, the first event after that.
func (w *world) listen(path string, headers ...header) *listener {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	w.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, http.NoBody)
	w.check(err)
	for _, h := range headers {
		r.Header.Set(h.name, h.value)
	}
	response, err := http.DefaultClient.Do(r)
	w.check(err)
	w.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("Cache-Control") != "no-store" {
		w.Fatalf("tail: %d %v", response.StatusCode, response.Header)
	}
	events := bufio.NewScanner(response.Body)
	events.Buffer(nil, 1<<20)
	return &listener{w.T, events}
}

// event returns the next event; an empty name is the end of the stream.
func (l *listener) event() (name, id, data string) {
	l.Helper()
	for l.body.Scan() {
		field, value, _ := strings.Cut(l.body.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if name != "" {
				return name, id, data
			}
		}
	}
	return "", "", ""
}

// seqs returns the numbers of lines.
func seqs(lines []runlog.Line) string {
	var text []string
	for _, l := range lines {
		text = append(text, itoa(l.Seq))
	}
	return strings.Join(text, " ")
}

// lines reads events until the line of this seq, and returns all seqs and the last id.
func (l *listener) lines(upto int64) (got string, id string) {
	l.Helper()
	var all []runlog.Line
	for {
		name, eventID, data := l.event()
		if name != "lines" {
			l.Fatalf("event %q %s after %s, want lines up to %d", name, data, seqs(all), upto)
		}
		var lines []runlog.Line
		if err := json.Unmarshal([]byte(data), &lines); err != nil {
			l.Fatal(err)
		}
		if all = append(all, lines...); all[len(all)-1].Seq >= upto {
			return seqs(all), eventID
		}
	}
}

// end reads the last event.
func (l *listener) end() LogEnd {
	l.Helper()
	name, _, data := l.event()
	var end LogEnd
	if err := json.Unmarshal([]byte(data), &end); err != nil || name != "end" {
		l.Fatalf("event %q %s, want end", name, data)
	}
	if name, _, _ := l.event(); name != "" {
		l.Errorf("event %q after the end", name)
	}
	return end
}

// print publishes lines as an executor does; nothing stores them.
func (w *world) print(u logstore.Update, seqs ...int64) {
	w.Helper()
	l := bus.Log{RunID: u.RunID, Job: u.Job, Attempt: 1, Instance: "i1"}
	for _, seq := range seqs {
		l.Lines = append(l.Lines, bus.LogLine{Seq: seq, At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "line " + itoa(seq)})
	}
	m, err := bustest.Log(w.conn.Tokens(), &l)
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.Context(), m)
	w.check(err)
}

// finish publishes the end of a run.
func (w *world) finish(u logstore.Update, status job.Status, lines int) {
	w.Helper()
	_, err := w.conn.JS.PublishMsg(w.Context(), w.end(u, status, lines))
	w.check(err)
}

// end is the end of a run, as its executor reports it.
func (w *world) end(u logstore.Update, status job.Status, lines int, more ...func(*bus.Event)) *nats.Msg {
	w.Helper()
	e := bus.Event{
		Kind: bus.EventFinished, RunID: u.RunID, Job: u.Job, Version: 1, Shard: u.Job.Shard(shards), Attempt: 1, Cause: u.Cause,
		FireTime: u.At, At: time.Now(), StartedAt: u.At, FinishedAt: time.Now(), Status: status, LogLines: lines, Instance: "i1",
	}
	for _, change := range more {
		change(&e)
	}
	m, err := bustest.Event(w.conn.Tokens(), &e)
	w.check(err)
	return m
}

func tailOf(u logstore.Update) string { return "/api/v1/runs/" + string(u.RunID) + "/logs/tail" }

func TestATailGivesWhatIsStoredThenWhatIsPrinted(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, started(x, "i1"))
	w.printed(x, 1, 3)
	l := w.listen(tailOf(x))
	if got, id := l.lines(3); got != "1 2 3" || id != "1:3" {
		t.Errorf("stored: %s, id %s", got, id)
	}
	w.print(begun("billing/x", noon.Add(time.Hour)), 4) // another run of the job
	w.print(x, 3, 4, 5)
	if got, id := l.lines(5); got != "4 5" || id != "1:5" {
		t.Errorf("printed: %s, id %s", got, id)
	}
	w.print(x, 8) // 6 and 7 went past us; the store gets them
	w.printed(x, 6, 7)
	if got, _ := l.lines(8); got != "6 7 8" {
		t.Errorf("over a gap: %s", got)
	}
	w.finish(x, job.StatusFailed, 9) // before its last line
	w.print(x, 9)
	if got, _ := l.lines(9); got != "9" {
		t.Errorf("at the end: %s", got)
	}
	if end := l.end(); end.Missing != 0 || end.Run.Status != job.StatusFailed || end.Run.RunID != x.RunID {
		t.Errorf("%+v", end)
	}
}

func TestATailGivesTheLinesThatFollowTheEnd(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, started(x, "i1"))
	w.printed(x, 1, 1)
	l := w.listen(tailOf(x))
	l.lines(1)
	_, err := w.conn.JS.PublishMsg(t.Context(), w.end(x, job.StatusSucceeded, 1, func(e *bus.Event) { e.LogOpen = true }))
	w.check(err)
	w.print(x, 2, 3)
	if got, _ := l.lines(3); got != "2 3" {
		t.Errorf("after the end: %s", got)
	}
	last, err := bustest.Log(w.conn.Tokens(), &bus.Log{RunID: x.RunID, Job: x.Job, Attempt: 1, Instance: "i1", Lines: []bus.LogLine{}, Last: true})
	w.check(err)
	_, err = w.conn.JS.PublishMsg(t.Context(), last)
	w.check(err)
	if end := l.end(); end.Missing != 0 || end.Run.Status != job.StatusSucceeded {
		t.Errorf("%+v", end)
	}
}

func TestATailEndsWithARunWhoseEndIsInAPack(t *testing.T) {
	w := newWorld(t)
	x, other := begun("billing/x", noon), begun("billing/x", noon.Add(time.Hour))
	w.history(x, started(x, "i1"))
	w.printed(x, 1, 2)
	l := w.listen(tailOf(x))
	if got, _ := l.lines(2); got != "1 2" {
		t.Errorf("stored: %s", got)
	}
	forged := w.end(x, job.StatusFailed, 0)
	forged.Header.Set(bus.HeaderToken, w.end(other, job.StatusFailed, 0).Header.Get(bus.HeaderToken))
	_, err := w.conn.JS.PublishMsg(w.Context(), bustest.Pack(bus.SubjectEnds(0, "billing"), forged, w.end(other, job.StatusFailed, 0), w.end(x, job.StatusSucceeded, 2)))
	w.check(err)
	if end := l.end(); end.Missing != 0 || end.Run.Status != job.StatusSucceeded || end.Run.RunID != x.RunID {
		t.Errorf("%+v", end)
	}
}

func TestATailResumesAfterTheLastEvent(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, finished(x, job.StatusSucceeded, 5, noon.Add(time.Minute)))
	w.printed(x, 1, 5)
	l := w.listen(tailOf(x), header{"Last-Event-ID", "1:3"})
	if got, _ := l.lines(5); got != "4 5" {
		t.Errorf("after 1:3: %s", got)
	}
	if end := l.end(); end.Missing != 0 {
		t.Errorf("%+v", end)
	}
	if end := w.listen(tailOf(x), header{"Last-Event-ID", "1:5"}).end(); end.Run.Status != job.StatusSucceeded {
		t.Errorf("%+v", end)
	}
	w.problemWith([]header{{"Last-Event-ID", "five"}}, 400, "invalid", "GET", tailOf(x), nil, "Last-Event-ID")
}

func TestATailCountsTheLinesThatNobodyHas(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, finished(x, job.StatusSucceeded, 9, noon.Add(time.Minute)))
	w.printed(x, 3, 5)
	l := w.listen(tailOf(x))
	if got, _ := l.lines(5); got != "3 4 5" {
		t.Error(got)
	}
	if end := l.end(); end.Missing != 6 {
		t.Errorf("%d missing, want 1, 2 and 6 to 9", end.Missing)
	}
}

func TestATailOfARunThatTheHistoryDoesNotHaveYetNeedsItsJob(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.problem(404, "not_found", "GET", tailOf(x), nil)
	w.printed(x, 1, 1)
	l := w.listen(tailOf(x) + "?job=billing/x")
	l.lines(1)
	w.print(x, 2)
	l.lines(2)
	w.finish(x, job.StatusSucceeded, 2)
	l.end()
}

func TestAStoppingServerSaysByeToItsTails(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x)
	w.printed(x, 1, 1)
	l := w.listen(tailOf(x))
	l.lines(1)
	w.stop()
	if name, _, _ := l.event(); name != "bye" {
		t.Errorf("event %q, want bye", name)
	}
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if n := w.server.open.Len(); n != 0 {
		t.Errorf("%d streams left open", n)
	}
}

func TestAReaderThatDoesNotReadDelaysTheEndByTheGraceOnly(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.Grace = 100 * time.Millisecond })
	x := begun("billing/x", noon)
	w.history(x)
	var lines []runlog.Line
	for seq := range int64(600) { // more than the buffers of a connection take
		lines = append(lines, runlog.Line{
			RunID: x.RunID, Job: x.Job, Attempt: 1, Seq: seq + 1, At: noon, Level: "info", Output: "stdout", Text: strings.Repeat("x", bus.MaxLogText),
		})
	}
	w.check(w.store.WriteLines(t.Context(), "", lines))
	w.listen(tailOf(x)).lines(1) // the others are on their way
	began := time.Now()
	w.stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > stream.WriteLimit/2 {
		t.Errorf("it took %v to stop", took)
	}
}

func TestTailsAreBounded(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.MaxStreams = 1 })
	x := begun("billing/x", noon)
	w.history(x)
	w.printed(x, 1, 1)
	w.listen(tailOf(x)).lines(1)
	w.problem(503, "unavailable", "GET", tailOf(x), nil, "1 open streams")
}

func TestOneUserCannotTakeAllStreams(t *testing.T) {
	g := newGuardedWorld(t, func(c *Config, _ *world) { c.MaxUserStreams = 2 })
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": "t"}, bob.headers()...)
	token := header{"Authorization", "Bearer " + made.Secret}
	x := begun("billing/x", noon)
	g.history(x)
	g.printed(x, 1, 1)
	g.listen("/api/v1/events", token)
	first := g.listen(tailOf(x), bob.headers()...)
	first.lines(1)
	for _, path := range []string{tailOf(x), "/api/v1/events", "/api/v1/logs/tail"} {
		for _, by := range [][]header{bob.headers(), {token}} {
			g.problemWith(by, 429, "too_many", "GET", path, nil, "user bob has 2 live streams open")
		}
	}
	g.listen("/api/v1/events", ann.headers()...)
	g.finish(x, job.StatusSucceeded, 1)
	first.end()
	for g.server.open.Len() > 2 { // the handler has still to return
		runtime.Gosched()
	}
	g.listen(tailOf(x), bob.headers()...).lines(1)
}

func TestATailEndsWhenItsReaderHasGone(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x)
	w.printed(x, 1, 1)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+tailOf(x), http.NoBody)
	w.check(err)
	response, err := http.DefaultClient.Do(r)
	w.check(err)
	(&listener{t, bufio.NewScanner(response.Body)}).lines(1)
	leave()
	_ = response.Body.Close()
	gone := w.server.open.Drained()
	for seq := int64(2); ; seq++ { // writing is how it is noticed
		select {
		case <-gone:
			return
		default:
			w.print(x, seq)
		}
	}
}
