package clickhouse

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// An event for a mark has it in the column delivery, and who made it in instance.
var markCodes = map[job.Mark]uint32{job.MarkHandled: 1, job.MarkSucceeded: 2, job.MarkNone: 3}

var (
	statusOf = inverse(database.Statuses)
	causeOf  = inverse(database.Causes)
	markOf   = inverse(markCodes)
)

func inverse[K, C comparable](codes map[K]C) map[C]K {
	words := make(map[C]K, len(codes))
	for word, code := range codes {
		words[code] = word
	}
	return words
}

// lastMillis is the last instant that is stored, as a retention of years after it
// must still be a DateTime. An executor may claim any.
var lastMillis = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// millis is 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return min(max(t.UnixMilli(), 0), lastMillis)
}

func fireMillis(id job.RunID) int64 { return min(id.Time().UnixMilli(), lastMillis) }

// instant reads what millis wrote.
func instant(t time.Time) time.Time {
	if t.UnixMilli() == 0 {
		return time.Time{}
	}
	return t.UTC()
}

// instantAt reads what millis made.
func instantAt(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// noRun is the id that stands for none.
var noRun uuid.UUID

// pieceOf returns the piece with an index; -1 is the whole run.
func pieceOf(index int32) runlog.Piece { return runlog.PieceAt(int(index)) }

// packID expects an id that was validated.
func packID(id job.RunID) uuid.UUID {
	u, _ := uuid.Parse(string(id))
	return u
}

func unpackID(u uuid.UUID) job.RunID { return job.RunID(u.String()) }

func toUint32(n int) uint32 {
	return uint32(min(max(n, 0), math.MaxUint32))
}

func toInt32(n int) int32 {
	return int32(min(max(n, math.MinInt32), math.MaxInt32))
}
