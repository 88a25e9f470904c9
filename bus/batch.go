package bus

import (
	"strconv"

	"github.com/nats-io/nats.go"
)

// MaxBatch is how many messages one atomic batch may have, by the server's default.
const MaxBatch = 1000

// ExpectLast makes the message conditional: it, and the batch with it, is refused
// unless seq is the sequence of the last message on its subject (0: there is none).
func ExpectLast(m *nats.Msg, seq uint64) {
	m.Header["Nats-Expected-Last-Subject-Sequence"] = []string{strconv.FormatUint(seq, 10)}
}

// Rollup makes the message replace all earlier ones on its subject.
func Rollup(m *nats.Msg) { m.Header["Nats-Rollup"] = []string{"sub"} }
