package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"

	"modernc.org/sqlite"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// sqlFingerprint is [logstore.Fingerprint] in SQL.
const sqlFingerprint = "carillon_fingerprint"

func init() { //nolint:gochecknoinits // the driver keeps functions for all connections, and has to know them before the first
	sqlite.MustRegisterDeterministicScalarFunction(sqlFingerprint, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		said, _ := args[0].(string) // as the columns have it
		return logstore.Fingerprint(said), nil
	})
}

// failureText is why an attempt failed.
const failureText = "coalesce(nullif(message, ''), nullif(end_reason, ''), nullif(reason, ''), CASE status WHEN 11 THEN 'failed' WHEN 12 THEN 'timed_out' ELSE 'lost' END)"

// Failures implements [logstore.Store].
func (s *statistics) Failures(ctx context.Context, filter logstore.FailureFilter) ([]runlog.Failure, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	q := newQuery(filter.Runs(), s.jobs)
	if q.empty {
		return []runlog.Failure{}, nil
	}
	query, args := q.failures()
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	defer func() { _ = rows.Close() }()
	from, to := ceilMillis(filter.From), ceilMillis(filter.To)
	byPrint, prints := map[string]*failure{}, map[string]string{}
	for rows.Next() {
		var id job.RunID
		var number int64
		var version int
		var said string
		if err := rows.Scan((*file.ScanID)(&id), &number, &version, &said); err != nil {
			return nil, fmt.Errorf("read failures: %w", err)
		}
		fingerprint, ok := prints[said]
		if !ok {
			fingerprint = logstore.Fingerprint(said)
			prints[said] = fingerprint
		}
		f := byPrint[fingerprint]
		if f == nil { // the newest comes first
			f = &failure{jobs: map[job.Name]bool{}, versions: map[int]bool{}}
			f.Fingerprint, f.Message, f.Last, f.LastRun = fingerprint, reason.Text(said), id.Time(), id
			if filter.Parts > 0 {
				f.Counts = make([]int, filter.Parts)
			}
			byPrint[fingerprint] = f
		}
		f.Attempts, f.First = f.Attempts+1, id.Time()
		f.jobs[s.jobs.Name(number)], f.versions[version] = true, true
		if filter.Parts > 0 {
			f.Counts[(id.Time().UnixMilli()-from)*int64(filter.Parts)/(to-from)]++
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	found := make([]runlog.Failure, 0, len(byPrint))
	for _, f := range byPrint {
		f.tellJobs()
		found = append(found, f.Failure)
	}
	slices.SortFunc(found, func(a, b runlog.Failure) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return found[:min(len(found), cmp.Or(filter.Limit, logstore.DefaultFailures))], nil
}

// failures returns the statement for attempts that failed, the newest first.
func (q *query) failures() (string, []any) {
	return "SELECT run_id, job, version, " + failureText + " FROM runs INDEXED BY runs_failed WHERE status IN (11, 12, 14)" + q.where + " ORDER BY run_id DESC", q.args
}

// failure is one that is being counted.
type failure struct {
	runlog.Failure
	jobs     map[job.Name]bool
	versions map[int]bool // of them all
}

// tellJobs writes down which jobs and versions were hit.
func (f *failure) tellJobs() {
	names := slices.Sorted(maps.Keys(f.jobs))
	f.JobCount, f.Jobs = len(names), names[:min(len(names), logstore.FailureJobs)]
	if len(names) == 1 {
		versions := slices.Sorted(maps.Keys(f.versions))
		slices.Reverse(versions)
		f.Versions = versions[:min(len(versions), logstore.FailureVersions)]
	}
}
