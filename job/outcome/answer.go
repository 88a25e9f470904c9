package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Verdict is what became, or will become, of the fires of a job in one minute.
type Verdict string

// The verdicts.
const (
	DidRun       Verdict = "ran"       // the run has ended
	DoesRun      Verdict = "runs"      // it is running
	Waits        Verdict = "waits"     // it has not started
	WasSkipped   Verdict = "skipped"   // there was a reason against it
	WasMissed    Verdict = "missed"    // noticed too late, or not begun in time
	Unknown      Verdict = "unknown"   // not decided yet, or not judged
	Contradicted Verdict = "disagrees" // a discrepancy
	WillRun      Verdict = "will_run"  // it is ahead
	WillSkip     Verdict = "will_skip" // it is ahead, and there is a reason against it
	NoFire       Verdict = "no_fire"   // the schedule has none
	NoJob        Verdict = "no_job"    // the job did not exist
)

// Remedy is what somebody can do after an answer.
type Remedy string

// The remedies.
const (
	ResumeJob     Remedy = "resume_job"
	ResumeGroup   Remedy = "resume_group"
	ResumeAll     Remedy = "resume_all"
	TakeBackSkip  Remedy = "unskip"         // of the fire
	RunFire       Remedy = "backfill"       // run that one fire now
	RunNow        Remedy = "run"            // a run without a fire
	EditSchedule  Remedy = "edit"           // change the job
	EditCalendar  Remedy = "edit_calendar"  // the first one that the sentence names
	StartExecutor Remedy = "start_executor" // or look at those that there are
	EarlierRuns   Remedy = "earlier_runs"   // look at the live runs of the job
	OpenRun       Remedy = "open_run"
	OpenServers   Remedy = "open_servers" // look at the servers
	OpenLedger    Remedy = "open_ledger"  // look at the fires around it
)

// Remedies lists all of them.
var Remedies = []Remedy{
	ResumeJob, ResumeGroup, ResumeAll, TakeBackSkip, RunFire, RunNow, EditSchedule, EditCalendar, StartExecutor, EarlierRuns, OpenRun, OpenServers, OpenLedger,
}

// Answer says why a job ran, or did not run, in one minute.
type Answer struct {
	Job job.Name `json:"job"`
	// At is when the minute begins, and Zone that of the job's schedule.
	At      time.Time   `json:"at"`
	Zone    string      `json:"zone"`
	Verdict Verdict     `json:"verdict"`
	Reason  reason.Text `json:"reason"` // the whole sentence
	// Fire is what the ledger has of the fire in question; nil when there is none, or it is ahead.
	Fire *Entry `json:"fire,omitempty"`
	// FireTime is that of the fire; zero when there is none.
	FireTime time.Time `json:"fire_time,omitzero"`
	RunID    job.RunID `json:"run_id,omitempty"` // of the run that there is
	Calendar string    `json:"calendar,omitempty"`
	// Before and After are the fires that the schedule has nearest to the minute; zero when there are none, or
	// they follow from the ends of runs.
	Before time.Time `json:"before,omitzero"`
	After  time.Time `json:"after,omitzero"`
	// Remedies are what helps, the most useful first.
	Remedies []Remedy `json:"remedies"`
}
