package clickhouse

import (
	"slices"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// place is where the attempts of a run are, or those of one of its pieces. Its first
// part orders it in time.
type place struct {
	fire  int64 // milliseconds
	id    uuid.UUID
	index int32 // of the piece; -1 is the whole
}

func placeOf(id job.RunID, piece runlog.Piece) place {
	return place{fireMillis(id), packID(id), toInt32(piece.Index())}
}

// row is what the table runs has of an attempt. Rows are compared as they are, so it
// has no pointers.
type row struct {
	place

	attempt                                    uint32
	job                                        job.Name
	version, total                             uint32
	status, runStatus, cause                   int8
	queuedAt, committedAt, deliveredAt         int64
	startedAt, finishedAt                      int64
	instance                                   string
	delivery                                   uint32
	exited                                     bool
	exitCode                                   int32
	message, reason, endReason, madeBy, result string
	step, wait, hold                           string
	logLines                                   uint32
	count                                      uint64
	until                                      int64
	parent                                     uuid.UUID
	reported, ruled, reasonOf                  int8
	reportedAt, ruledAt                        int64
	retry, progress                            bool
	revision                                   uint32
}

// stored is a row as it is in the table.
type stored struct {
	row
	sign     int8
	measured bool
	batch    string
}

// insertColumns returns the columns of the table runs for some rows, without those in
// which all rows have what the table has by itself: of most ends that is half of them.
func insertColumns(rows []stored) []column {
	columns := []column{
		{"run_id", collect(rows, func(r *stored) uuid.UUID { return r.id })},
		unless(-1, "broadcast_index", rows, func(r *stored) int32 { return r.index }),
		unless(0, "broadcast_total", rows, func(r *stored) uint32 { return r.total }),
		{"attempt", collect(rows, func(r *stored) uint32 { return r.attempt })},
		{"group", collect(rows, func(r *stored) string { return r.job.Group() })},
		{"job", collect(rows, func(r *stored) string { return string(r.job) })},
		{"version", collect(rows, func(r *stored) uint32 { return r.version })},
		{"status", collect(rows, func(r *stored) int8 { return r.status })},
		{"run_status", collect(rows, func(r *stored) int8 { return r.runStatus })},
		{"cause", collect(rows, func(r *stored) int8 { return r.cause })},
		{"fire_time", collect(rows, func(r *stored) int64 { return r.fire })},
		unless(0, "queued_at", rows, func(r *stored) int64 { return r.queuedAt }),
		{"committed_at", collect(rows, func(r *stored) int64 { return r.committedAt })},
		unless(0, "delivered_at", rows, func(r *stored) int64 { return r.deliveredAt }),
		{"started_at", collect(rows, func(r *stored) int64 { return r.startedAt })},
		{"finished_at", collect(rows, func(r *stored) int64 { return r.finishedAt })},
		{"instance", collect(rows, func(r *stored) string { return r.instance })},
		unless(0, "delivery", rows, func(r *stored) uint32 { return r.delivery }),
		{"exit_code", collect(rows, func(r *stored) *int32 {
			if !r.exited {
				return nil
			}
			return &r.exitCode
		})},
		unless("", "message", rows, func(r *stored) string { return r.message }),
		unless("", "reason", rows, func(r *stored) string { return r.reason }),
		unless("", "end_reason", rows, func(r *stored) string { return r.endReason }),
		unless("", "made_by", rows, func(r *stored) string { return r.madeBy }),
		unless("", "step", rows, func(r *stored) string { return r.step }),
		unless("", "wait", rows, func(r *stored) string { return r.wait }),
		unless("", "hold", rows, func(r *stored) string { return r.hold }),
		unless("", "result", rows, func(r *stored) string { return r.result }),
		unless(0, "log_lines", rows, func(r *stored) uint32 { return r.logLines }),
		unless(1, "count", rows, func(r *stored) uint64 { return r.count }),
		unless(0, "until", rows, func(r *stored) int64 { return r.until }),
		unless(noRun, "parent_run_id", rows, func(r *stored) uuid.UUID { return r.parent }),
		{"reported", collect(rows, func(r *stored) int8 { return r.reported })},
		unless(0, "reported_at", rows, func(r *stored) int64 {
			if r.reportedAt == r.finishedAt {
				return 0
			}
			return r.reportedAt
		}),
		unless(false, "retry", rows, func(r *stored) bool { return r.retry }),
		unless(0, "ruled", rows, func(r *stored) int8 { return r.ruled }),
		unless(0, "ruled_at", rows, func(r *stored) int64 { return r.ruledAt }),
		unless(0, "reason_of", rows, func(r *stored) int8 { return r.reasonOf }),
		unless(false, "progress", rows, func(r *stored) bool { return r.progress }),
		{"sign", collect(rows, func(r *stored) int8 { return r.sign })},
		{"revision", collect(rows, func(r *stored) uint32 { return r.revision })},
		{"measured", collect(rows, func(r *stored) bool { return r.measured })},
		{"batch", collect(rows, func(r *stored) string { return r.batch })},
	}
	return slices.DeleteFunc(columns, func(c column) bool { return c.values == nil })
}

// unless returns a column, without values if all would be the usual one.
func unless[R any, V comparable](usual V, name string, rows []R, value func(*R) V) column {
	for i := range rows {
		if value(&rows[i]) != usual {
			return column{name, collect(rows, value)}
		}
	}
	return column{name: name}
}

func collect[R, V any](rows []R, value func(*R) V) []V {
	values := make([]V, len(rows))
	for i := range rows {
		values[i] = value(&rows[i])
	}
	return values
}
