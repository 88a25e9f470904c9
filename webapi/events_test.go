package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/job/fleet"
)

// topicEvent reads events until one of the topic, and returns its id and what it tells.
func (l *listener) topicEvent(t topic) (id string, told Changed) {
	l.Helper()
	for {
		name, id, data := l.event()
		switch name {
		case "":
			l.Fatalf("the stream ended before an event of %s", t)
		case string(t):
			if err := json.Unmarshal([]byte(data), &told); err != nil {
				l.Fatal(err)
			}
			return id, told
		}
	}
}

// wantEvent fails unless the next event has this name.
func (l *listener) wantEvent(want string) (id string) {
	l.Helper()
	name, id, data := l.event()
	if name != want {
		l.Fatalf("event %q %s, want %q", name, data, want)
	}
	return id
}

func TestEventsTellWhatHasChanged(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/api/v1/events")
	l.wantEvent("reload") // nobody had listened before
	w.put("billing/report", "0 3 * * *")
	if _, told := l.topicEvent(topicJobs); !cmp.Equal(told, Changed{Names: []string{"billing/report"}}) {
		t.Errorf("jobs: %v", told)
	}
	w.heartbeat("billing", "one", fleet.InstanceOnline)
	if _, told := l.topicEvent(topicExecutors); !cmp.Equal(told, Changed{Names: []string{"billing"}}) {
		t.Errorf("executors: %v", told)
	}
	want[any](w, http.StatusOK, "PUT", "/api/v1/hold", `{"paused":true}`)
	if _, told := l.topicEvent(topicCluster); !told.More {
		t.Errorf("cluster: %v", told)
	}
}

func TestEventsGoOnAfterTheLastOneOrSayToReload(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/api/v1/events?topic=jobs")
	l.wantEvent("reload")
	w.put("billing/a", "0 3 * * *")
	id, _ := l.topicEvent(topicJobs)
	w.put("billing/b", "0 3 * * *")
	w.put("ops/c", "0 3 * * *")
	l.topicEvent(topicJobs)

	// Both came after the one that was heard last: in one event, since they were missed.
	again := w.listen("/api/v1/events?topic=jobs", header{"Last-Event-ID", id})
	if _, told := again.topicEvent(topicJobs); len(told.Names) == 0 || told.Names[0] != "billing/b" {
		t.Errorf("after %s: %v", id, told)
	}
	w.listen("/api/v1/events", header{"Last-Event-ID", "another.1"}).wantEvent("reload")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/events?topic=weather", "", "topic")
}

func TestEventsToldToASlowReaderAreBounded(t *testing.T) {
	n := newNews(nil, nil)
	n.begin(time.UnixMilli(1))
	r := n.subscribe([]topic{topicRuns}, "")
	for i := range 50_000 {
		n.note(topicRuns, fmt.Sprintf("group-%d", i%300), fmt.Sprintf("group-%d/job-%d", i%300, i))
		n.note(topicJobs, "a", "a/b")
		if i%1000 == 0 {
			n.publish()
		}
	}
	n.publish()
	unread, _, _ := n.rest(r)
	c := unread[topicRuns]
	if len(unread) != 1 || len(c.names) != namesPerTopic || !cmp.Equal(c.groups, map[string]struct{}{"": {}}) {
		t.Errorf("%d topics, %d names, groups %v", len(unread), len(c.names), c.groups)
	}
	if len(n.past) > editionsKept {
		t.Errorf("%d editions are kept", len(n.past))
	}
	n.unsubscribe(r)
	n.note(topicRuns, "a", "a/b")
	if len(n.next) != 0 {
		t.Error("what nobody reads is kept")
	}
}
