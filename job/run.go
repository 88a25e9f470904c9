package job

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// RunID names a run: a UUIDv7 in its usual text form. Its time is the fire time.
type RunID string

// FireRunID returns the id of the run that job owes to the fire at fireTime. It is
// a pure function, so whoever publishes the fire again names the same run. The
// bits that are not time hash (job, fire time, cause); a misfire counts as its
// schedule, as one fire must never have two runs.
func FireRunID(name Name, fireTime int64, cause Cause) RunID {
	if cause == CauseMisfire {
		cause = CauseSchedule
	}
	text := make([]byte, 0, 192)
	text = append(text, name...)
	text = append(text, 0)
	text = strconv.AppendInt(text, fireTime, 10)
	text = append(text, 0)
	text = append(text, cause...)
	sum := sha256.Sum256(text)
	return uuidv7(fireTime, sum[:10])
}

// ChildRunID returns the id of the run that job owes to the end, at the instant at in
// Unix milliseconds, of a parent's run; where it has joined several, of the last. It
// is a pure function, as [FireRunID] is.
func ChildRunID(name Name, parent RunID, at int64) RunID {
	sum := sha256.Sum256([]byte(string(name) + "\x00" + string(parent) + "\x00" + string(CauseParent)))
	return uuidv7(at, sum[:10])
}

// StepRunID returns the id of the run of a step in a run of its workflow. It has the fire time of that
// run, and is a pure function, as [FireRunID] is.
func StepRunID(of RunID, step string) RunID {
	sum := sha256.Sum256([]byte(string(of) + "\x00" + step + "\x00" + string(CauseStep)))
	return uuidv7(of.Time().UnixMilli(), sum[:10])
}

// RoundRunID returns the id of the run of a step in a round, from 1 on: each time that somebody retries the
// step, or one that it follows, another round of it begins. The first has the id of [StepRunID].
func RoundRunID(of RunID, step string, round int) RunID {
	if round <= 1 {
		return StepRunID(of, step)
	}
	return StepRunID(of, step+"\x00"+strconv.Itoa(round))
}

// RetryRunID returns the id of the run that somebody wants in the place of an ended one.
// It has that run's fire time, and is a pure function of it and of key, by which asking
// twice makes no second run.
func RetryRunID(of RunID, key string) RunID {
	sum := sha256.Sum256([]byte(string(of) + "\x00" + key + "\x00" + string(CauseRerun)))
	return uuidv7(of.Time().UnixMilli(), sum[:10])
}

// BackfillRunID returns the id of the run with which a backfill repeats the fire at
// fireTime. It is a pure function, as [FireRunID] is.
func BackfillRunID(name Name, fireTime int64, backfill string) RunID {
	sum := sha256.Sum256([]byte(string(name) + "\x00" + strconv.FormatInt(fireTime, 10) + "\x00" + string(CauseBackfill) + "\x00" + backfill))
	return uuidv7(fireTime, sum[:10])
}

// WantedRunID returns the id of the run of a job that somebody asks for under the id
// wanted, alone or together with runs of other jobs. It has the instant of wanted, and is
// a pure function, so asking twice makes no second run. As it hashes the job, nobody can
// ask for a run under the id of another job's run.
func WantedRunID(name Name, wanted RunID) RunID {
	sum := sha256.Sum256([]byte(string(name) + "\x00" + string(wanted) + "\x00" + string(CauseManual)))
	return uuidv7(wanted.Time().UnixMilli(), sum[:10])
}

// PingRunID returns the id of the run that a ping reports and no fire asked for, with the time ms of the
// run, in Unix milliseconds. It is a pure function, so reading a ping twice makes no second run.
func PingRunID(name Name, ping string, ms int64) RunID {
	sum := sha256.Sum256([]byte(string(name) + "\x00" + ping + "\x00" + string(CausePing)))
	return uuidv7(ms, sum[:10])
}

// LaterRunID returns the id of the run that a request, named wanted, asks for at the instant at in Unix
// milliseconds. It has that instant, which is the run's fire time, and is a pure function, so asking
// twice makes no second run.
func LaterRunID(wanted RunID, at int64) RunID {
	sum := sha256.Sum256([]byte(string(wanted) + "\x00" + strconv.FormatInt(at, 10) + "\x00later"))
	return uuidv7(at, sum[:10])
}

// StartID returns the name of the request by which the code of a run, of, starts a run of a job: the
// count-th, from 0, with parameters of that digest. It has the fire time of the run, and is a pure
// function, so an attempt that starts again what one before it has started makes the same request.
func StartID(of RunID, name Name, digest string, count int) RunID {
	sum := sha256.Sum256([]byte(string(of) + "\x00" + string(name) + "\x00" + digest + "\x00" + strconv.Itoa(count) + "\x00start"))
	return uuidv7(of.Time().UnixMilli(), sum[:10])
}

// NewRunID returns an id for a run that no fire asked for: one wanted by a person,
// the API or a parent at the instant now.
func NewRunID(now time.Time) RunID {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the program rather than return an error
	return uuidv7(now.UnixMilli(), random[:])
}

// uuidv7 lays out ms and ten further bytes as RFC 9562 says.
func uuidv7(ms int64, rest []byte) RunID {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], uint64(ms)<<16) //nolint:gosec // times before 1970 are refused on input
	copy(u[6:], rest)
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], u[0:4])
	text[8] = '-'
	hex.Encode(text[9:13], u[4:6])
	text[13] = '-'
	hex.Encode(text[14:18], u[6:8])
	text[18] = '-'
	hex.Encode(text[19:23], u[8:10])
	text[23] = '-'
	hex.Encode(text[24:36], u[10:16])
	return RunID(text[:])
}

// ParseRunID returns s as a RunID. Its error is an *InvalidError for field "run_id".
func ParseRunID(s string) (RunID, error) {
	ok := len(s) == 36 && s[14] == '7'
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			ok = c == '-'
		default:
			ok = c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		}
	}
	if !ok {
		return "", Invalid("run_id", "%q must be a UUIDv7 in lower case, such as 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d", clip.Text(s, maxQuoted))
	}
	return RunID(s), nil
}

// Time returns the instant in the id: the fire time, or when the run was asked for.
func (id RunID) Time() time.Time {
	if len(id) != 36 {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(string(id[:8])+string(id[9:13]), 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Status is the state of a run.
type Status string

// The states of a run. The last seven are final.
const (
	StatusPending   Status = "pending"   // its trigger is committed
	StatusQueued    Status = "queued"    // held back by overlap
	StatusRunning   Status = "running"   // an executor has begun it
	StatusSucceeded Status = "succeeded" // done, and well
	StatusFailed    Status = "failed"    // done, and badly
	StatusTimedOut  Status = "timed_out" // cancelled because it took too long
	StatusCancelled Status = "cancelled" // somebody called it off
	StatusLost      Status = "lost"      // its executor vanished, and it may not be tried again
	StatusSkipped   Status = "skipped"   // not run: overlap, calendar or pause
	StatusMissed    Status = "missed"    // not run: noticed too late, and the misfire policy said no
)

// Statuses lists every status, in the order of a run's life.
var Statuses = []Status{
	StatusPending, StatusQueued, StatusRunning, StatusSucceeded, StatusFailed,
	StatusTimedOut, StatusCancelled, StatusLost, StatusSkipped, StatusMissed,
}

// Final reports whether a run with this status has ended for good.
func (s Status) Final() bool {
	switch s {
	case StatusSucceeded, StatusFailed, StatusTimedOut, StatusCancelled, StatusLost, StatusSkipped, StatusMissed:
		return true
	case StatusPending, StatusQueued, StatusRunning:
	}
	return false
}

// Executed reports whether a final status is one that an executor may report.
func (s Status) Executed() bool {
	return s.Final() && s != StatusSkipped && s != StatusMissed
}

// Cause is why a run exists.
type Cause string

// The causes of a run.
const (
	CauseSchedule Cause = "schedule" // a fire
	CauseMisfire  Cause = "misfire"  // a fire noticed late, run all the same
	CauseBackfill Cause = "backfill" // a fire of the past that somebody asked for
	CauseManual   Cause = "manual"   // a person
	CauseAPI      Cause = "api"      // a program
	CauseParent   Cause = "parent"   // another job's run
	CauseRerun    Cause = "rerun"    // a new run like a finished one, which somebody asked for
	CausePing     Cause = "ping"     // a ping of a job that is done elsewhere, which no fire asked for
	CauseStep     Cause = "step"     // the graph of a workflow, of whose run it is a part
	CauseTest     Cause = "test"     // a person who tries a draft of a job; see [CountedCauses]
)

// ScheduledCauses are the causes of runs that the schedule asked for: such a run is late or not by its
// fire time, which is also its place among the runs of its job.
var ScheduledCauses = []Cause{CauseSchedule, CauseMisfire}

// Scheduled reports whether c is one of [ScheduledCauses].
func (c Cause) Scheduled() bool { return slices.Contains(ScheduledCauses, c) }

// Counted reports whether a run with the cause counts as one of its job's; see [CountedCauses].
func (c Cause) Counted() bool { return c != CauseStep && c != CauseTest }

// Causes lists every cause.
var Causes = append(slices.Clone(CountedCauses), CauseStep, CauseTest)

// CountedCauses are all causes but [CauseStep] and [CauseTest]. Steps and tests count in no report and
// open no incident, and lists have them only if their filter names the cause.
var CountedCauses = []Cause{CauseSchedule, CauseMisfire, CauseBackfill, CauseManual, CauseAPI, CauseParent, CauseRerun, CausePing}
