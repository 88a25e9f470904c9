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

// FireTrace returns the W3C trace context of the fire of an attempt. The spans of executors are
// below it. The trace id is the run's id without hyphens, and the span id is a hash of the run's id
// and the attempt. So servers and executors compute the same context, and a run's id is enough to
// find its trace. It returns "" if id is not the id of a run.
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
