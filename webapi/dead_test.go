package webapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

// bury has a message of a stream refused.
func (w *world) bury(stream, subject string, seq uint64, data string) {
	w.Helper()
	m := &nats.Msg{Subject: subject, Header: nats.Header{bus.HeaderMessage: {"event.v9"}, "Nats-Msg-Id": {"x"}}, Data: []byte(data)}
	w.check(w.conn.DeadLetters().Bury(w.Context(), stream, seq, 0, m, errors.New("it is of a newer version")))
}

func TestDeadLettersAreListedWithTheirReasonTheNewestFirst(t *testing.T) {
	w := newWorld(t)
	for n := range uint64(5) {
		w.bury(bus.StreamEvt, "evt.3.billing", n, fmt.Sprintf("{%d", n))
	}
	page, _ := want[DeadLetterPage](w, http.StatusOK, "GET", "/api/v1/dead-letters?limit=2", nil)
	if len(page.Items) != 2 || page.Total != 5 || page.Items[0].Sequence != 5 {
		t.Fatalf("%+v", page)
	}
	if l := page.Items[0]; l.Stream != bus.StreamEvt || l.Subject != "evt.3.billing" || l.Reason != "it is of a newer version" || l.Message != "event.v9" || l.Size != 2 || !l.Whole || l.At.IsZero() {
		t.Errorf("%+v", l)
	}
	seen := 2
	for page.Next != "" {
		page, _ = want[DeadLetterPage](w, http.StatusOK, "GET", "/api/v1/dead-letters?limit=2&cursor="+page.Next, nil)
		seen += len(page.Items)
	}
	if seen != 5 {
		t.Errorf("the pages have %d letters; want 5", seen)
	}
	if state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil); state.DeadLetters != 5 {
		t.Errorf("the state of the history counts %d letters; want 5", state.DeadLetters)
	}
	w.problem(400, "invalid", "GET", "/api/v1/dead-letters?cursor=x", nil)
}

func TestADeadLetterIsReadAndDeleted(t *testing.T) {
	w := newWorld(t)
	w.bury(bus.StreamEvt, "evt.3.billing", 1, "bad \xff bytes")
	l, _ := want[DeadLetterContent](w, http.StatusOK, "GET", "/api/v1/dead-letters/1", nil)
	if l.Text != "bad \uFFFD bytes" || l.Size != 11 {
		t.Errorf("%+v", l)
	}
	if a := w.send("DELETE", "/api/v1/dead-letters/1", nil); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.text)
	}
	w.problem(404, "not_found", "GET", "/api/v1/dead-letters/1", nil)
	w.problem(404, "not_found", "DELETE", "/api/v1/dead-letters/1", nil)
}

func TestADeadLetterIsReplayedAsItWas(t *testing.T) {
	w := newWorld(t)
	replay := func(seq int) reply { return w.send("POST", fmt.Sprintf("/api/v1/dead-letters/%d/replay", seq), nil) }
	w.bury(bus.StreamEvt, "evt.3.billing", 1, "an event")
	w.bury(bus.StreamLog, "log.billing", 1, "some lines")
	w.bury(bus.StreamLog, "log.billing", 2, strings.Repeat("x", 600<<10))
	w.bury("KV_ALERT", "$KV.ALERT.rule.x", 1, "a rule")
	for seq, want := range map[int]int{1: 204, 2: 204, 3: 409, 4: 409, 5: 404} {
		if a := replay(seq); a.status != want {
			t.Errorf("letter %d: %d %s; want %d", seq, a.status, a.text, want)
		}
	}
	for stream, want := range map[string]string{bus.StreamEvt: "evt.3.billing an event", bus.StreamLog: "log.billing some lines"} {
		s, err := w.conn.JS.Stream(t.Context(), stream)
		w.check(err)
		m, err := s.GetLastMsgForSubject(t.Context(), strings.Fields(want)[0])
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			t.Errorf("%s has got nothing", stream)
			continue
		}
		w.check(err)
		if got := m.Subject + " " + string(m.Data); got != want || m.Header.Get(bus.HeaderMessage) != "event.v9" || m.Header.Get(cluster.HeaderDeadReason) != "" || m.Header.Get("Nats-Msg-Id") != "" {
			t.Errorf("%s has %q with %v; want %q as it was", stream, got, m.Header, want)
		}
	}
	if page, _ := want[DeadLetterPage](w, http.StatusOK, "GET", "/api/v1/dead-letters", nil); page.Total != 2 {
		t.Errorf("%d letters are left; want the two that could not be replayed", page.Total)
	}
}
