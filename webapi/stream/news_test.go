package stream

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
