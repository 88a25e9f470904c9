package scheduler

import "hash/fnv"

// preferred returns which of the live nodes a shard should be owned by: the one
// that scores highest for it (rendezvous hashing). Every node computes the same; a
// node that joins takes only its own share, from all others alike.
func preferred(shard int, nodes []string) string {
	var best string
	var bestScore uint64
	for _, n := range nodes {
		score := affinity(shard, n)
		if best == "" || score > bestScore || score == bestScore && n < best {
			best, bestScore = n, score
		}
	}
	return best
}

func affinity(shard int, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node))
	_, _ = h.Write([]byte{byte(shard), byte(shard >> 8)}) //nolint:gosec // shards are fewer than 65536
	x := h.Sum64()
	// FNV's last bytes move few bits; mix them through.
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
