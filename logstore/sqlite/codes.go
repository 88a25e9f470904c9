package sqlite

import (
	"encoding/hex"
	"strings"
	"time"

	"carillon/job"
	"carillon/job/runlog"
)

// The numbers of statuses in the file. They rise in the order of a run's life, so
// that merging two is max; those from firstFinal on are final, and succeeded is
// known to an index.
const firstFinal = 10

var statusCodes = map[job.Status]int64{
	job.StatusQueued: 1, job.StatusPending: 2, job.StatusRunning: 3,
	job.StatusSucceeded: firstFinal, job.StatusFailed: 11, job.StatusTimedOut: 12, job.StatusCancelled: 13,
	job.StatusLost: 14, job.StatusSkipped: 15, job.StatusMissed: 16,
}

var causeCodes = map[job.Cause]int64{
	job.CauseSchedule: 1, job.CauseMisfire: 2, job.CauseBackfill: 3, job.CauseManual: 4,
	job.CauseAPI: 5, job.CauseParent: 6, job.CauseRetry: 7,
}

var kindCodes = map[runlog.Kind]int64{
	runlog.KindRecorded: 1, runlog.KindStarted: 2, runlog.KindProgress: 3, runlog.KindFinished: 4, runlog.KindLate: 5,
	runlog.KindHeld: 6, runlog.KindMarked: 7,
}

// A change for a mark has it in the column delivery, and who made it in instance.
var markCodes = map[job.Mark]int64{job.MarkHandled: 1, job.MarkSucceeded: 2, job.MarkNone: 3}

var (
	statusOf = inverse(statusCodes)
	causeOf  = inverse(causeCodes)
	kindOf   = inverse(kindCodes)
	markOf   = inverse(markCodes)
)

func inverse[K comparable](codes map[K]int64) map[int64]K {
	words := make(map[int64]K, len(codes))
	for word, code := range codes {
		words[code] = word
	}
	return words
}

// appendID appends the 16 bytes of a run id that was validated.
func appendID(buf []byte, id job.RunID) []byte {
	var text [32]byte
	n := copy(text[:], id[0:8])
	n += copy(text[n:], id[9:13])
	n += copy(text[n:], id[14:18])
	n += copy(text[n:], id[19:23])
	copy(text[n:], id[24:36])
	buf, _ = hex.AppendDecode(buf, text[:])
	return buf
}

func packID(id job.RunID) []byte { return appendID(make([]byte, 0, 16), id) }

func unpackID(b []byte) job.RunID {
	if len(b) != 16 {
		return ""
	}
	text := hex.EncodeToString(b)
	return job.RunID(strings.Join([]string{text[0:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-"))
}

// idAt returns the lowest run id whose fire time is t or later, as stored.
func idAt(t time.Time) []byte {
	ms := max(t.UnixMilli(), 0)
	if t.Nanosecond()%1e6 != 0 {
		ms++
	}
	id := make([]byte, 16)
	for i := 5; i >= 0; i-- {
		id[i] = byte(ms)
		ms >>= 8
	}
	return id
}

// millis is 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
