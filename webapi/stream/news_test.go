package stream

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

func TestEventsToldToASlowReaderAreBounded(t *testing.T) {
	n := NewNews(nil, nil)
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

// A change of a job is sent once all jobs are known: a page that loads everything before that would miss it.
func TestAReaderIsToldToLoadEverythingOnceChangesOfJobsAreHeardOf(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		n := NewNews(clustertest.Setup(t, bustest.NewBroker(t), "api", 1), slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		jobs, ended := make(chan struct{}), make(chan error)
		go func() { ended <- n.Run(ctx, jobs) }()
		r := n.subscribe(topics, "")
		time.Sleep(time.Minute)
		if _, _, reload := n.rest(r); reload {
			t.Error("the reader was told before")
		}
		close(jobs)
		time.Sleep(time.Second)
		if _, _, reload := n.rest(r); !reload {
			t.Error("the reader was not told")
		}
		n.unsubscribe(r)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
