package top

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func seenTop() topView {
	v := topView{
		Server: "https://carillon.example.org", At: drawtest.At("12:00:05.000"), Jobs: 1204, FiresPerSecond: 12.34,
		Alive:   map[job.Status]int{job.StatusRunning: 14, job.StatusPending: 2},
		Nodes:   []topNode{{"n1", []int{0, 1, 2, 3, 8}}, {"n2", []int{4, 5, 6}}},
		Unowned: []int{7},
		Groups:  []topGroup{{"billing", "online", 3, 96, 12, 2}, {"ops", "empty", 0, 0, 0, 0}},
		History: topHistory{Answers: true, Bytes: 3 << 20, Backlog: []fleet.IngestBacklog{{Stream: "EVT"}, {Stream: "LOG", Messages: 12, Since: drawtest.At("12:00:01.500")}}},
	}
	v.Lateness.Committed = runlog.Spread{Count: 9, P50: 3 * time.Millisecond, P99: 21 * time.Millisecond}
	v.Failures = drawtest.Runs()[1:3]
	return v
}

func TestTopShowsHowThingsAre(t *testing.T) {
	v := seenTop()
	drawtest.Text(t, "top", v.frame(80, 24))
}

func TestTopSaysOfAServerThatDoesNotAnswerThatNothingIsKnown(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	api, err := client.New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	v := lookAt(t.Context(), api, draw.Clock{})
	got := v.frame(wholeLines, 0)
	for _, want := range []string{"? jobs  ? fires/s  ? running  ? pending  ? queued", "history       unknown", "failures unknown"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "meanwhile") || strings.Contains(got, "0 jobs") || strings.Contains(got, "no failures") || strings.Contains(got, "…") {
		t.Errorf("it says what nobody knows:\n%s", got)
	}
}

func TestTopFitsTheTerminalWhateverThereIs(t *testing.T) {
	v := seenTop()
	for i := range 50 {
		v.Nodes = append(v.Nodes, topNode{fmt.Sprintf("node-with-a-long-name-%d", i), []int{i, i + 2, i + 4, i + 6, i + 8}})
		v.Groups = append(v.Groups, topGroup{Group: fmt.Sprintf("group-%d", i), State: "online"})
		v.Failures = append(v.Failures, v.Failures[0])
	}
	v.Missing = []string{"nodes: " + strings.Repeat("long ", 50)}
	for _, size := range [][2]int{{80, 24}, {80, 12}, {40, 8}, {10, 3}, {1, 1}, {200, 60}} {
		lines := strings.Split(strings.TrimSuffix(v.frame(size[0], size[1]), "\n"), "\n")
		if len(lines) > size[1] {
			t.Errorf("%d lines in a terminal of %d", len(lines), size[1])
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > size[0] {
				t.Errorf("%d columns in a terminal of %d: %q", utf8.RuneCountInString(l), size[0], l)
			}
		}
	}
	if all := v.frame(80, 0); strings.Contains(all, "more") || !strings.Contains(all, "group-49") {
		t.Errorf("a frame for scripts leaves something out:\n%s", all)
	}
	if short := v.frame(80, 24); !strings.Contains(short, "more") {
		t.Errorf("a list was cut without saying so:\n%s", short)
	}
}

// aTerminal is a watch over a terminal of 80 columns and 24 lines, and what is painted on it.
func aTerminal(keys <-chan string) (w *watch, painted func() string, resize func(width, height int)) {
	var mu sync.Mutex // of all below
	var out strings.Builder
	width, height := 80, 24
	w = &watch{every: time.Second, keys: keys, look: seenTop, out: writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	}), size: func() (int, int) {
		mu.Lock()
		defer mu.Unlock()
		return width, height
	}}
	painted = func() string {
		mu.Lock()
		defer mu.Unlock()
		text := out.String()
		out.Reset()
		return text
	}
	return w, painted, func(w, h int) {
		mu.Lock()
		defer mu.Unlock()
		width, height = w, h
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestTopRepaintsAtEachLookAndWhenTheTerminalChangesItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := make(chan string)
		w, painted, resize := aTerminal(keys)
		slow := make(chan struct{})
		w.look = func() topView {
			<-slow
			v := seenTop()
			v.Server = "https://\x1b[2Jevil"
			return v
		}
		ended := make(chan error)
		go func() { ended <- w.run(t.Context()) }()
		synctest.Wait()
		if text := painted(); !strings.HasPrefix(text, enterScreen+home) || !strings.Contains(text, "q ends") {
			t.Errorf("before the first look: %q", text)
		}
		close(slow)
		synctest.Wait()
		if text := painted(); !strings.Contains(text, "billing") || strings.Contains(text, "[2Jevil\x1b") || strings.Contains(text, "\x1b[2Je") {
			t.Errorf("after the first look: %q", text)
		}
		time.Sleep(w.every)
		synctest.Wait()
		if text := painted(); !strings.Contains(text, "billing") {
			t.Errorf("after the second look: %q", text)
		}
		resize(30, 5)
		time.Sleep(resizeEvery)
		synctest.Wait()
		if text := painted(); strings.Count(text, "\n") != 4 || strings.HasSuffix(text, "\n") {
			t.Errorf("in a terminal that has become small: %q", text)
		}
		keys <- "\x1b[A" // an arrow
		keys <- "q"
		if err := <-ended; err != nil || painted() != leaveScreen {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestTopEndsAtQEscAndControlC(t *testing.T) {
	for _, key := range []string{"q", "\x1b", "\x03"} {
		synctest.Test(t, func(t *testing.T) {
			keys := make(chan string, 1)
			keys <- key
			w, _, _ := aTerminal(keys)
			if err := w.run(t.Context()); err != nil {
				t.Errorf("%q: %v", key, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, painted, _ := aTerminal(nil)
	if err := w.run(ctx); !errors.Is(err, context.Canceled) || !strings.HasSuffix(painted(), leaveScreen) {
		t.Errorf("at the end of its context: %v", err)
	}
}
