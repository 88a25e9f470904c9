package cluster_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// lastWord returns the message with which a server ends a request. left is how many of the messages
// asked for it has not handed out; "" leaves the header out.
func lastWord(status, why, left string) *nats.Msg {
	m := nats.NewMsg("")
	m.Header.Set("Status", status)
	m.Header.Set("Description", why)
	if left != "" {
		m.Header.Set("Nats-Pending-Messages", left)
	}
	return m
}

func TestAPullTakesWhatComesAfterTheEndOfItsRequest(t *testing.T) {
	tooLarge := lastWord("409", "Message Size Exceeds MaxBytes", "3")
	for name, c := range map[string]struct {
		sent []string // messages in order; "end" is the last word
		end  *nats.Msg
		want string
	}{
		"before the end":                  {[]string{"a", "b", "end"}, tooLarge, "a b"},
		"replicas confirm the deliveries": {[]string{"end", "a", "b"}, tooLarge, "a b"},
		"some of them":                    {[]string{"a", "end", "b"}, tooLarge, "a b"},
		"the request is fulfilled":        {[]string{"end", "a", "b", "c", "d", "e"}, lastWord("409", "Batch Completed", "0"), "a b c d e"},
		"one of them never comes":         {[]string{"a", "end"}, tooLarge, "a"},
		"an end without a number":         {[]string{"a", "end", "b"}, lastWord("404", "No Messages", ""), "a"},
		"an end with a false number":      {[]string{"a", "end", "b"}, lastWord("408", "Request Timeout", "many"), "a"},
		"an end with a negative number":   {[]string{"end", "a", "b", "c", "d", "e", "f"}, lastWord("408", "Request Timeout", "-1"), "a b c d e"},
		"none was delivered":              {[]string{"end"}, lastWord("408", "Request Timeout", "5"), ""},
		"the first is too large":          {[]string{"end"}, lastWord("409", "Message Size Exceeds MaxBytes", "5"), "error: Message Size Exceeds MaxBytes"},
	} {
		inCluster(t, func(w *world) {
			server, err := w.conn.NC.Subscribe("$JS.API.CONSUMER.MSG.NEXT.S.c", func(m *nats.Msg) {
				for _, text := range c.sent {
					answer := &nats.Msg{Data: []byte(text), Reply: "acknowledge"}
					if text == "end" {
						answer = c.end
					}
					answer.Subject = m.Reply
					_ = w.conn.NC.PublishMsg(answer)
				}
			})
			if err != nil {
				w.t.Fatal(err)
			}
			defer func() { _ = server.Unsubscribe() }()
			messages, err := w.conn.Pull(w.t.Context(), "S", "c", jet.PullRequest{Batch: 5, MaxBytes: 100, Expires: time.Second})
			var got []string
			for _, m := range messages {
				got = append(got, string(m.Data))
			}
			said := strings.Join(got, " ")
			if err != nil {
				said = "error: " + err.Error()[strings.LastIndex(err.Error(), ": ")+2:]
			}
			if diff := cmp.Diff(c.want, said); diff != "" {
				w.t.Errorf("%s: the pull brought (-want +got):\n%s", name, diff)
			}
		})
	}
}

// A server that has handed out exactly the bytes that were asked for says nothing more.
func TestAPullEndsWithTheMessageThatFillsIt(t *testing.T) {
	inCluster(t, func(w *world) {
		for range 4 {
			if _, err := w.conn.JS.Publish(w.t.Context(), "evt.1.g", []byte("text")); err != nil {
				w.t.Fatal(err)
			}
		}
		pull := func(r jet.PullRequest) []*nats.Msg {
			w.t.Helper()
			messages, err := w.conn.Pull(w.t.Context(), bus.StreamEvt, bus.ConsumerEvents, r)
			if err != nil {
				w.t.Fatal(err)
			}
			return messages
		}
		first := pull(jet.PullRequest{Batch: 1})
		begun := time.Now()
		if filled := pull(jet.PullRequest{Batch: 10, MaxBytes: 2 * first[0].Size(), Expires: time.Second}); len(filled) != 2 {
			w.t.Errorf("%d messages, want 2", len(filled))
		}
		if took := time.Since(begun); took > 0 {
			w.t.Errorf("the pull took %v", took)
		}
		if rest := pull(jet.PullRequest{Batch: 10, Expires: time.Second}); len(rest) != 1 {
			w.t.Errorf("%d messages are left, want 1", len(rest))
		}
	})
}

// Otherwise whoever asks with a bound never gets past such a message.
func TestAMessageThatIsLargerThanARequestComesByItself(t *testing.T) {
	inCluster(t, func(w *world) {
		large := strings.Repeat("x", 2000)
		for _, text := range []string{large, "small", large} {
			if _, err := w.conn.JS.Publish(w.t.Context(), "evt.1.g", []byte(text)); err != nil {
				w.t.Fatal(err)
			}
		}
		synctest.Wait() // NATS acknowledges a message before its consumers know of it
		for _, want := range []string{large, "small", large, ""} {
			messages, err := w.conn.Pull(w.t.Context(), bus.StreamEvt, bus.ConsumerEvents, jet.PullRequest{Batch: 10, MaxBytes: 1000, NoWait: true})
			if err != nil {
				w.t.Fatal(err)
			}
			if want == "" && len(messages) == 0 {
				continue
			}
			if len(messages) != 1 || string(messages[0].Data) != want {
				w.t.Errorf("%d messages, want the one with %d bytes", len(messages), len(want))
			}
		}
	})
}

// Ingest pulls some times a second even when nothing happens.
func TestAPullForOneMessageTakesLittleMemory(t *testing.T) {
	inCluster(t, func(w *world) {
		const pulls = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pulls {
			if _, err := w.conn.Pull(w.t.Context(), bus.StreamEvt, bus.ConsumerEvents, jet.PullRequest{Batch: 1, NoWait: true}); err != nil {
				w.t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / pulls; each > 100<<10 {
			w.t.Errorf("it takes %d bytes; want 100 kB at most, with all that the server takes", each)
		}
	})
}
