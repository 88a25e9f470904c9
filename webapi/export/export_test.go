package export

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// steps notes what is done with a slot, and which pages are read.
type steps struct {
	mu       sync.Mutex
	list     []string
	released chan struct{}
}

func (s *steps) note(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, step)
}

func (s *steps) Rest()                        { s.note("rest") }
func (s *steps) Resume(context.Context) error { s.note("resume"); return nil }
func (s *steps) Release()                     { s.note("release"); close(s.released) }

// served asks for an export of three pages as who, and returns what was done, the answer,
// and whether it is whole.
func served(t *testing.T, who *auth.Identity) (done []string, text string, whole bool) {
	t.Helper()
	s := &steps{released: make(chan struct{})}
	pages := 0
	e := List[int]{Name: "numbers", Page: func(context.Context) ([]int, bool, error) {
		pages++
		s.note("page")
		return []int{pages}, pages < 3, nil
	}}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	users := auth.NewDirectory(&cluster.Conn{}, nil)
	app.Get("/", func(c *fiber.Ctx) error {
		c.SetUserContext(access.With(t.Context(), &access.Caller{Who: who, Slot: s}))
		return e.Serve(t.Context(), c, users, slog.New(slog.DiscardHandler))
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- app.Listener(l) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	response, err := http.DefaultClient.Do(r)
	if err == nil { // else it was cut off before anything was sent
		body, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	<-s.released
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), string(body), err == nil
}

func TestAnExportHoldsItsSlotToTheEndAndGivesWayWhileItIsWritten(t *testing.T) {
	done, text, whole := served(t, auth.Local("ann"))
	if diff := cmp.Diff([]string{"page", "rest", "resume", "page", "rest", "resume", "page", "rest", "release"}, done); diff != "" || text != "1\n2\n3\n" || !whole {
		t.Errorf("%q, whole: %t; %s", text, whole, diff)
	}
}

func TestAnExportIsCutOffWhenTheSessionOfItsCallerHasEnded(t *testing.T) {
	done, text, whole := served(t, &auth.Identity{User: "bob", How: rights.BySession, Session: "ended"})
	if diff := cmp.Diff([]string{"page", "rest", "resume", "rest", "release"}, done); diff != "" || text != "" && text != "1\n" || whole {
		t.Errorf("%q, whole: %t; %s", text, whole, diff)
	}
}
