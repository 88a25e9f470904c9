package logstore

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Writer stores runs, log lines and facts. Its methods are safe for concurrent use. A write
// that fails with job.ErrInvalid will always fail; after any other error, the caller tries
// again.
type Writer interface {
	// WriteRuns merges updates into the history, all or none. token names the batch
	// ("STREAM:first-last"): a repeat under the same token has the same updates, but for
	// some perhaps that others have made redundant, which lets a store that cannot merge
	// tell it apart. Repeats under any token change
	// nothing. A write that failed may be there in part, and is repeated until it succeeds
	// before any other is begun. When an update is not valid, none is written. No update
	// changes whose a run is: those that would are left out, all others are written, and the
	// error is a *ForeignError.
	WriteRuns(ctx context.Context, token string, updates []Update) error
	// WriteLines adds log lines. When it fails it may have added some of them; a repeat
	// adds the rest. When a line is not valid, none is added. Of two lines with one (run_id, attempt,
	// piece, seq) the first written stays.
	WriteLines(ctx context.Context, token string, lines []runlog.Line) error

	// WriteFacts adds facts, and replaces older versions of those that are there, all or
	// none. Repeats change nothing, under any token. When a fact is not valid, none is
	// written.
	WriteFacts(ctx context.Context, token string, facts []Fact) error
}

// Repeater is a store that needs to know which writes are repeats.
type Repeater interface {
	// Repeats returns the writer for what may be there in part: because a write of it under the
	// same token has failed, or because it is unknown how that ended.
	Repeats() Writer
}

// Store keeps history. Its methods are safe for concurrent use. Errors: one that is
// job.ErrInvalid will stay; anything else may pass, so the caller tries again.
type Store interface {
	Writer

	// Identity returns a text that no other store has. It stays the same for as long as the
	// store exists, and a copy of the store has it, too.
	Identity(ctx context.Context) (string, error)

	// Facts returns a page of the facts that match, the newest first. Cursors hold while
	// facts are written and trimmed.
	Facts(ctx context.Context, filter FactFilter) (FactPage, error)

	// Run returns all attempts of a run, the newest first and each as a whole, or
	// job.ErrNotFound.
	Run(ctx context.Context, id job.RunID) ([]runlog.Run, error)
	// Pieces returns pieces of a run, none of one that is unknown.
	Pieces(ctx context.Context, filter PieceFilter) (PiecePage, error)
	// Runs returns a page of the runs that match, the newest fire first unless another
	// order is asked for. Cursors hold at any depth, and while runs are written and trimmed.
	Runs(ctx context.Context, filter RunFilter) (RunPage, error)
	// Changes returns the timeline of all attempts of a run as a whole, or of one of its
	// pieces, the oldest first, or job.ErrNotFound. Of the progress it has one change in
	// ten seconds at most.
	Changes(ctx context.Context, id job.RunID, piece runlog.Piece) ([]runlog.Change, error)
	// Held returns the last change of each run in which no instance took it, of the run as a
	// whole. Runs without one are absent.
	Held(ctx context.Context, ids []job.RunID) (map[job.RunID]runlog.Change, error)
	// Lines returns lines in the order of their seq. It returns none for an attempt
	// that is unknown.
	Lines(ctx context.Context, filter LineFilter) ([]runlog.Line, error)
	// LastLines returns the seq of the last line of each attempt of a job's run as a whole. Attempts
	// without lines are absent.
	LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error)
	// Search returns a page of the lines that match. It reads the newest first, and so
	// returns soon when there are many; a word that no line has may take a look at all.
	Search(ctx context.Context, filter SearchFilter) (SearchPage, error)
	// CountHits returns how many lines match, by level and by when their runs fired: each
	// bucket has what a Search with its range finds. It counts from the newest on, and
	// when its time is over it says since when it has counted, which may be none of
	// it. Lines that were stored more than once may count as often for some hours.
	CountHits(ctx context.Context, filter HitCountFilter) (HitCounts, error)
	// Counts returns how many fires the runs that match stand for, by [runlog.Run.RunStatus], or
	// with AllAttempts by Status: a row counts as its Count. Limit and Cursor are ignored.
	Counts(ctx context.Context, filter RunFilter) (map[job.Status]int, error)
	// Facets returns how many fires the runs that match stand for, by what they are. Each
	// dimension is counted without what the filter itself says of it, so that people see
	// what else there is to choose. Runs without a value, such as the instance of one that
	// waits, are in none.
	Facets(ctx context.Context, filter FacetFilter) (runlog.Facets, error)
	// Histogram returns what Counts does, for each of so many equal parts of the range
	// between From and To, which are both needed.
	Histogram(ctx context.Context, filter RunFilter, parts int) (Histogram, error)
	// Report returns what became of the runs of a range of fire times, from counts that are
	// kept beside the runs and outlive them. Repeats and late events are not counted twice.
	Report(ctx context.Context, filter ReportFilter) (Report, error)
	// Failures returns in which ways attempts failed, the most frequent first.
	Failures(ctx context.Context, filter FailureFilter) ([]runlog.Failure, error)
	// Repair counts a day, in UTC, again from the runs that fired then and are still there.
	// The error is job.ErrInvalid for a day without runs. A store that cannot keep writers
	// away also returns it until an hour after the day's end.
	Repair(ctx context.Context, day time.Time) error
	// LastRuns returns the newest n runs of each job, the newest first, each by its newest
	// attempt, without tests of drafts. Jobs without runs are absent. n is from 1 to MaxLastRuns.
	LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]runlog.Run, error)
	// Standings returns how jobs stand by the runs that LastRuns returns. A store may remember it
	// until they have another run. Jobs without runs are absent. Of more than a thousand jobs that fail it may tell a
	// streak of 1, whatever it is.
	Standings(ctx context.Context, jobs []job.Name) (map[job.Name]Standing, error)
	// Waiting returns the runs that are pending, by executor group. Groups without one are
	// absent. It costs a look at each of them, however many others there are.
	Waiting(ctx context.Context) (map[string]Waiting, error)
	// OpenWaits returns the steps that wait as the filter says, the oldest fire first. They are queued, and have a Wait.
	// It costs a look at all that wait, however many other runs there are.
	OpenWaits(ctx context.Context, filter WaitFilter) ([]runlog.Run, error)
	// StepRuns returns what became of the steps of runs of workflows. It costs a look at their attempts, Limit of them at
	// most, however many other runs there are.
	StepRuns(ctx context.Context, filter StepFilter) (StepPage, error)
	// Usage returns how busy the executors of a group were, in equal parts of a range. What
	// waits or runs still does so at its end. It looks at runs that fired in the range or in
	// the day before, at older ones that are alive, and at those of backfills that were
	// committed then, however old their fires are.
	Usage(ctx context.Context, filter UsageFilter) ([]runlog.UsagePart, error)
	// Stats returns figures about the store that are cheap to know.
	Stats(ctx context.Context) (Stats, error)

	// SetRetention sets how long the lines that are written from now on are kept.
	SetRetention(r job.Retention)
	// Trim deletes what r keeps no longer at an instant: runs with their timelines, log
	// lines, and facts. A store may delete later than asked, as it drops whole days, and lines
	// of different jobs at once: but no later than the retention asks under which they were written.
	// Writers never wait for it long.
	Trim(ctx context.Context, now time.Time, r job.Retention) (Trimmed, error)
	// Preview tells what Trim would do, and what comes of r in the long run.
	Preview(ctx context.Context, now time.Time, r job.Retention) (runlog.Effect, error)
	// Close waits for running calls and releases the store.
	Close() error
}

// Waiting is the runs of an executor group that wait for an executor.
type Waiting struct {
	Runs  int
	Since time.Time // when the newest attempt of the one that waits longest was committed
}

// Stats are figures about a store.
type Stats struct {
	Bytes     int64     `json:"bytes"`               // on disk
	OldestRun time.Time `json:"oldest_run,omitzero"` // its fire time
	Disk      Disk      `json:"disk"`
}

// Disk is how large the disk below a store is, and what of it the store may yet use, in
// bytes: of several the one that is the fullest. It is zero where that is not known.
type Disk struct {
	Total int64 `json:"total"`
	Free  int64 `json:"free"`
}

// Trimmed says how much Trim deleted: runs' attempts, each as a whole, lines, and facts.
type Trimmed struct {
	Runs  int64 `json:"runs"`
	Lines int64 `json:"lines"`
	Facts int64 `json:"facts"`
}
