package stream

import "strings"

// topic is a kind of thing that changes. The words are those of the contract.
type topic string

// The topics of GET /events.
const (
	topicJobs      topic = "jobs"
	topicRuns      topic = "runs"
	topicExecutors topic = "executors"
	topicCluster   topic = "cluster"
	topicAlerts    topic = "alerts"
)

var topics = []topic{topicJobs, topicRuns, topicExecutors, topicCluster, topicAlerts}

// namesPerTopic is how many jobs, or groups, are named at once; of more it is only said in
// which groups.
const namesPerTopic = 100

// changed says what of a topic has changed. Its size is bounded whatever happens:
// beyond some names only their groups are known, and a reader that does not keep up
// gets the union of what it has not read yet.
type changed struct {
	names  map[string]struct{} // jobs as group/name, or groups of executors
	groups map[string]struct{} // in which more has changed than is named; "" is any
}

// add notes a name, which belongs to a group.
func (c *changed) add(group, name string) {
	if _, ok := c.groups[""]; ok {
		return
	}
	if len(c.names) >= namesPerTopic {
		if _, known := c.names[name]; !known {
			c.more(group)
		}
		return
	}
	if c.names == nil {
		c.names = map[string]struct{}{}
	}
	c.names[name] = struct{}{}
}

// more notes that something of a group has changed that is not named, of any if the
// group is empty.
func (c *changed) more(group string) {
	if _, ok := c.groups[""]; ok {
		return
	}
	if group == "" || len(c.groups) >= namesPerTopic {
		c.groups = map[string]struct{}{"": {}}
		return
	}
	if c.groups == nil {
		c.groups = map[string]struct{}{}
	}
	c.groups[group] = struct{}{}
}

func (c *changed) merge(other changed) {
	for name := range other.names {
		group, _, _ := strings.Cut(name, "/")
		c.add(group, name)
	}
	for group := range other.groups {
		c.more(group)
	}
}
