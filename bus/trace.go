package bus

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// HeaderTrace is the name, in messages, requests and (in capitals) environments, of the W3C
// trace context.
const HeaderTrace = "traceparent"

// FireTrace returns the W3C trace context of the fire that an attempt of a run belongs to: the
// parent of everything that executors do for it. A run's id has 128 bits, and so has a trace's:
// they are the same. The span follows from the run's id and the attempt. So servers and
// executors agree on a trace without telling each other, and whoever knows a run finds its trace
// by its id without hyphens. It returns "" if id is not the id of a run.
func FireTrace(id job.RunID, attempt int) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(id), "-", ""))
	if err != nil || len(raw) != 16 {
		return ""
	}
	h := fnv.New64a()
	_, _ = h.Write(raw)
	_, _ = h.Write([]byte(strconv.Itoa(attempt)))
	span := binary.BigEndian.AppendUint64(nil, h.Sum64()|1) // one of zero would be none
	text := append(hex.AppendEncode([]byte("00-"), raw), '-')
	return string(append(hex.AppendEncode(text, span), "-01"...))
}
