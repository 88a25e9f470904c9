package scheduler

import (
	"fmt"
	"testing"
)

func TestANodeThatJoinsTakesOnlyItsShareFromAllAlike(t *testing.T) {
	const shards = 1024
	var nodes []string
	for n := 1; n <= 12; n++ {
		before := nodes
		joined := fmt.Sprintf("host-%d-x7k2p", n)
		nodes = append(append([]string(nil), before...), joined)
		share := map[string]int{}
		for s := range shards {
			now := preferred(s, nodes)
			share[now]++
			if len(before) > 0 && now != joined && now != preferred(s, before) {
				t.Fatalf("shard %d moved from %s to %s when %s joined", s, preferred(s, before), now, joined)
			}
		}
		fair := shards / n
		for _, node := range nodes {
			if got := share[node]; got < fair*2/3 || got > fair*3/2 {
				t.Errorf("of %d nodes, %s prefers %d shards of %d", n, node, got, shards)
			}
		}
	}
}

func TestTheOrderOfNodesDoesNotMatter(t *testing.T) {
	for s := range 64 {
		if a, b := preferred(s, []string{"a", "b", "c"}), preferred(s, []string{"c", "a", "b"}); a != b {
			t.Fatalf("shard %d: %s or %s", s, a, b)
		}
	}
}
