package webapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// topicEvent reads events until one of the topic, and returns its id and what it tells.
func (l *listener) topicEvent(topic string) (id string, told Changed) {
	l.Helper()
	for {
		name, id, data := l.event()
		switch name {
		case "":
			l.Fatalf("the stream ended before an event of %s", topic)
		case topic:
			if err := json.Unmarshal([]byte(data), &told); err != nil {
				l.Fatal(err)
			}
			return id, told
		}
	}
}

// wantReload fails unless the next event is "reload".
func (l *listener) wantReload() {
	l.Helper()
	if name, _, data := l.event(); name != "reload" {
		l.Fatalf("event %q %s, want reload", name, data)
	}
}

func TestEventsTellWhatHasChanged(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/api/v1/events")
	l.wantReload() // nobody had listened before
	w.put("billing/report", "0 3 * * *")
	if _, told := l.topicEvent("jobs"); !cmp.Equal(told, Changed{Names: []string{"billing/report"}}) {
		t.Errorf("jobs: %v", told)
	}
	w.heartbeat("billing", "one", fleet.InstanceOnline)
	if _, told := l.topicEvent("executors"); !cmp.Equal(told, Changed{Names: []string{"billing"}}) {
		t.Errorf("executors: %v", told)
	}
	want[any](w, http.StatusOK, "PUT", "/api/v1/pause", `{"paused":true}`)
	if _, told := l.topicEvent("cluster"); !told.More {
		t.Errorf("cluster: %v", told)
	}
}

func TestEventsTellOfRunsThatEndInAPack(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/api/v1/events?topic=runs")
	l.wantReload()
	x, y := begun("billing/x", noon), begun("billing/y", noon)
	forged := w.end(begun("billing/z", noon), job.StatusSucceeded, 0)
	forged.Header.Set(bus.HeaderToken, "none")
	pack := bustest.Pack(bus.SubjectEnds(0, "billing"), w.end(x, job.StatusSucceeded, 0), forged, w.end(y, job.StatusFailed, 0))
	_, err := w.conn.JS.PublishMsg(w.Context(), pack)
	w.check(err)
	if _, told := l.topicEvent("runs"); !cmp.Equal(told, Changed{Names: []string{"billing/x", "billing/y"}}) {
		t.Errorf("runs: %v", told)
	}
}

func TestEventsGoOnAfterTheLastOneOrSayToReload(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/api/v1/events?topic=jobs")
	l.wantReload()
	w.put("billing/a", "0 3 * * *")
	id, _ := l.topicEvent("jobs")
	w.put("billing/b", "0 3 * * *")
	w.put("ops/c", "0 3 * * *")
	l.topicEvent("jobs")

	// Both came after the one that was heard last: in one event, since they were missed.
	again := w.listen("/api/v1/events?topic=jobs", header{"Last-Event-ID", id})
	if _, told := again.topicEvent("jobs"); len(told.Names) == 0 || told.Names[0] != "billing/b" {
		t.Errorf("after %s: %v", id, told)
	}
	w.listen("/api/v1/events", header{"Last-Event-ID", "another.1"}).wantReload()
	w.listen("/api/v1/events").wantReload() // although others have listened all the time
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/events?topic=weather", "", "topic")
}
