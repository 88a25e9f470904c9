package why

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
)

// at is an instant of Saturday, 7 March 2026.
func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05", "2026-03-07T"+clock)
	if err != nil {
		panic(err)
	}
	return t
}

const name = job.Name("ops/a")

// version returns a version of a job that fires at nine from Monday to Friday.
func version(n int, from time.Time, change func(*job.Version)) *bus.JobEntry {
	v := job.Version{Job: job.Job{Job: name, Schedule: job.Schedule{Cron: "0 9 * * 1-5"}}.WithDefaults(), Version: n, EffectiveFrom: from, Author: "ann"}
	if change != nil {
		change(&v)
	}
	return &bus.JobEntry{Version: v}
}

// daily has the job fire at nine each day.
func daily(v *job.Version) { v.Schedule.Cron = "0 9 * * *" }

// asked returns the facts about nine o'clock, seen from ten, of a job that was created yesterday.
func asked(change func(*job.Version)) *Facts {
	return &Facts{
		Job: name, Moment: job.Moment{At: at("09:00:00")}, Now: at("10:00:00"),
		Versions: []*bus.JobEntry{version(1, at("00:00:00").AddDate(0, 0, -1), change)},
	}
}

// entry is that of the ledger for the fire at nine.
func entry(o outcome.Outcome, s job.Status, why string) outcome.Entry {
	return outcome.Entry{FireTime: at("09:00:00"), Due: at("09:00:00"), Version: 1, Outcome: o, Status: s, Reason: reason.Text(why), RunID: "0123456789abcdef0123456789abcdef"}
}

func (f *Facts) want(t *testing.T, v outcome.Verdict, sentence string, remedies ...outcome.Remedy) {
	t.Helper()
	a := f.Answer()
	if a.Verdict != v || string(a.Reason) != sentence {
		t.Errorf("got  %s: %s\nwant %s: %s", a.Verdict, a.Reason, v, sentence)
	}
	if diff := cmp.Diff(remedies, a.Remedies); diff != "" {
		t.Errorf("%s: remedies (-want +got):\n%s", sentence, diff)
	}
}

// Whatever the ledger has as a reason, the sentence has it with its code, and something helps.
func TestEachReasonOfTheLedgerLeadsToASentence(t *testing.T) {
	samples := map[reason.Kind]string{
		reason.Number: "2", reason.Duration: "1h30m", reason.Instant: "2026-03-01T02:00:00Z", reason.Word: "ops/b", reason.Status: "failed", reason.State: "failed",
		reason.Phrase: "gpu=1", reason.Weekday: "Monday", reason.Month: "May", reason.Free: "because",
	}
	statuses := map[outcome.Outcome]job.Status{
		outcome.Ran: job.StatusFailed, outcome.CaughtUp: job.StatusSucceeded, outcome.Reported: job.StatusSucceeded, outcome.Pending: job.StatusPending, outcome.Skipped: job.StatusSkipped, outcome.Missed: job.StatusMissed,
	}
	for _, s := range reason.Sentences() {
		if s.Refusal {
			continue
		}
		params := map[string]string{}
		for _, p := range s.Params {
			params[p.Name] = samples[p.Kind]
		}
		text := s.Say(params)
		if s.Follows {
			text = reason.Join(reason.NoticedTooLate.String(), text)
		}
		for _, o := range outcome.Outcomes {
			f := asked(daily)
			f.Entries = []outcome.Entry{entry(o, statuses[o], text)}
			a := f.Answer()
			codes := codesOf(string(a.Reason))
			if !slices.Contains(codes, s.Code) || slices.Contains(codes, "") || len(codes) < 2 {
				t.Errorf("%s of a fire that is %s: %q has the codes %q", s.Code, o, a.Reason, codes)
			}
			if len(a.Remedies) == 0 || a.Verdict == "" {
				t.Errorf("%s of a fire that is %s: %q has the verdict %q and no remedy", s.Code, o, a.Reason, a.Verdict)
			}
		}
	}
	for code := range ofReason {
		if reason.English(code) == "" {
			t.Errorf("there is no reason %q", code)
		}
	}
}

// codesOf returns the codes of the sentences that a text is made of.
func codesOf(text string) (codes []string) {
	said := reason.Read(text)
	for s := &said; s != nil; s = s.And {
		codes = append(codes, s.Code)
	}
	return codes
}

func TestTheLedgersOutcomeIsTheAnswer(t *testing.T) {
	f := asked(daily)
	run := "0123456789abcdef0123456789abcdef"
	ran := entry(outcome.Ran, job.StatusSucceeded, "")
	ran.StartedAt = at("09:00:00").Add(300 * time.Millisecond)
	f.Entries = []outcome.Entry{ran}
	f.want(t, outcome.DidRun, "the fire of 2026-03-07T09:00:00Z ran on time as run "+run+", which ended as succeeded", outcome.OpenRun)

	f.Entries[0].StartedAt = at("09:04:00")
	f.Entries[0].Reason = reason.Text(reason.WaitedForInstance.With("4m"))
	f.want(t, outcome.DidRun, "the fire of 2026-03-07T09:00:00Z started 4m late, at 2026-03-07T09:04:00Z, as run "+run+", which ended as succeeded; it waited 4m for an instance",
		outcome.StartExecutor, outcome.OpenRun)

	f.Entries = []outcome.Entry{entry(outcome.Pending, job.StatusPending, "")}
	f.Waits = reason.Text(reason.GroupEmpty.With("ops"))
	f.want(t, outcome.Waits, "the fire of 2026-03-07T09:00:00Z waits to start as run "+run+"; group ops has no executor", outcome.StartExecutor, outcome.OpenRun)

	running := entry(outcome.Pending, job.StatusRunning, "")
	running.StartedAt = at("09:00:01")
	f.Entries = []outcome.Entry{running}
	f.want(t, outcome.DoesRun, "the fire of 2026-03-07T09:00:00Z runs since 2026-03-07T09:00:01Z as run "+run, outcome.OpenRun)

	f.Entries = []outcome.Entry{entry(outcome.Missed, job.StatusMissed, reason.Join(reason.NoticedTooLate.String(), reason.MisfireSkip.String()))}
	f.want(t, outcome.WasMissed, "the fire of 2026-03-07T09:00:00Z was missed; noticed too late; the misfire policy is skip",
		outcome.OpenServers, outcome.EditSchedule, outcome.RunFire, outcome.OpenLedger)

	f.Entries = append(f.Entries, ran, ran)
	f.want(t, outcome.WasMissed, "the fire of 2026-03-07T09:00:00Z was missed; the minute has 2 more fires; noticed too late; the misfire policy is skip",
		outcome.OpenServers, outcome.EditSchedule, outcome.RunFire, outcome.OpenLedger)
}

func TestAPauseIsOfWhoeverPausedFirst(t *testing.T) {
	f := asked(daily)
	f.Versions = append(f.Versions,
		version(2, at("07:00:00"), func(v *job.Version) { daily(v); v.Paused, v.Author, v.Note = true, "bob", "disk is full" }),
		version(3, at("08:00:00"), func(v *job.Version) { daily(v); v.Paused, v.Title = true, "A" }))
	f.Entries = []outcome.Entry{entry(outcome.Skipped, job.StatusSkipped, reason.JobPaused.String())}
	const skipped = "the fire of 2026-03-07T09:00:00Z was skipped; "
	f.want(t, outcome.WasSkipped, skipped+"the job is paused; paused by bob at 2026-03-07T07:00:00Z; with the note: disk is full",
		outcome.ResumeJob, outcome.RunFire, outcome.OpenLedger)

	// Nobody resumes what runs again.
	f.Versions = append(f.Versions, version(4, at("09:30:00"), daily))
	f.want(t, outcome.WasSkipped, skipped+"the job is paused; paused by bob at 2026-03-07T07:00:00Z; with the note: disk is full", outcome.RunFire, outcome.OpenLedger)

	// It paused itself: the note is a reason with a code.
	f = asked(daily)
	f.Versions = append(f.Versions, version(2, at("07:00:00"), func(v *job.Version) {
		daily(v)
		v.Paused, v.Author, v.Note = true, "", reason.FailuresInARow.With(3, "0123456789abcdef0123456789abcdef")
	}))
	f.Entries = []outcome.Entry{entry(outcome.Skipped, job.StatusSkipped, reason.JobPaused.String())}
	f.want(t, outcome.WasSkipped, skipped+"the job is paused; paused at 2026-03-07T07:00:00Z; 3 runs in a row ended badly, the last one 0123456789abcdef0123456789abcdef",
		outcome.ResumeJob, outcome.RunFire, outcome.OpenLedger)

	f = asked(daily)
	f.Group = job.Pause{Paused: true, EffectiveFrom: at("06:00:00"), Author: "eve"}
	f.Entries = []outcome.Entry{entry(outcome.Skipped, job.StatusSkipped, reason.GroupPaused.With("ops"))}
	f.want(t, outcome.WasSkipped, skipped+"executor group ops is paused; paused by eve at 2026-03-07T06:00:00Z", outcome.ResumeGroup, outcome.RunFire, outcome.OpenLedger)
	f.Group.EffectiveFrom = at("09:30:00") // another pause
	f.want(t, outcome.WasSkipped, skipped+"executor group ops is paused", outcome.ResumeGroup, outcome.RunFire, outcome.OpenLedger)

	f.Everything = job.Pause{Paused: true, EffectiveFrom: at("06:00:00"), Author: "eve", Until: at("12:00:00")}
	f.Entries = []outcome.Entry{entry(outcome.Skipped, job.StatusSkipped, reason.EverythingPausedUntil.With(at("12:00:00")))}
	f.want(t, outcome.WasSkipped, skipped+"everything is paused until 2026-03-07T12:00:00Z; paused by eve at 2026-03-07T06:00:00Z",
		outcome.ResumeAll, outcome.RunFire, outcome.OpenLedger)
}

func TestTheRuleOfACalendarIsNamed(t *testing.T) {
	f := asked(daily)
	f.Entries = []outcome.Entry{entry(outcome.Skipped, job.StatusSkipped, reason.CalendarExcludes.With("weekend"))}
	f.Calendars = []job.CalendarVersion{{Calendar: job.Calendar{Calendar: "weekend", Windows: []job.Window{{Days: "sat,sun", From: "00:00", To: "24:00"}}}, EffectiveFrom: at("08:00:00")}}
	f.want(t, outcome.WasSkipped, `the fire of 2026-03-07T09:00:00Z was skipped; calendar weekend excludes it; its rule is "sat,sun 00:00-24:00"`,
		outcome.EditCalendar, outcome.RunFire, outcome.OpenLedger)
	f.Calendars[0].EffectiveFrom = at("09:30:00") // it may have been another rule
	f.want(t, outcome.WasSkipped, "the fire of 2026-03-07T09:00:00Z was skipped; calendar weekend excludes it", outcome.EditCalendar, outcome.RunFire, outcome.OpenLedger)
	if got := f.Answer().Calendar; got != "weekend" {
		t.Errorf("the answer names calendar %q", got)
	}
}

func TestWithoutAFireTheScheduleSaysWhy(t *testing.T) {
	f := asked(nil)
	const saturday = `no fire at 2026-03-07T09:00:00Z; the schedule does not fire on Saturday: its day of the week is "1-5"`
	f.want(t, outcome.NoFire, saturday, outcome.EditSchedule, outcome.RunNow)
	a := f.Answer()
	if want := at("09:00:00").AddDate(0, 0, -1); !a.Before.Equal(want) || !a.After.Equal(want.AddDate(0, 0, 3)) {
		t.Errorf("the nearest fires are %s and %s", a.Before, a.After)
	}

	// Another title is no other schedule.
	f.Versions = append(f.Versions, version(2, at("09:10:00"), func(v *job.Version) { v.Title = "A" }))
	f.want(t, outcome.NoFire, saturday, outcome.EditSchedule, outcome.RunNow)
	f.Versions = append(f.Versions, version(3, at("09:20:00"), daily))
	f.want(t, outcome.NoFire, saturday+"; that was version 2, which ann replaced at 2026-03-07T09:20:00Z", outcome.EditSchedule, outcome.RunNow)
	if a := f.Answer(); !a.After.Equal(at("09:00:00").AddDate(0, 0, 1)) {
		t.Errorf("the next fire is %s", a.After)
	}
}

func TestWithoutAJobTheAnswerSaysWhenThereWasOne(t *testing.T) {
	f := asked(daily)
	f.Moment.At = at("00:00:00").AddDate(0, 0, -3)
	f.want(t, outcome.NoJob, "the job did not exist before 2026-03-06T00:00:00Z", outcome.RunNow, outcome.OpenLedger)
	f.Versions[0].Version.Version = 7
	f.want(t, outcome.Unknown, "it was before the first version of the job that is kept", outcome.OpenLedger)

	f = asked(daily)
	f.Versions = append(f.Versions, version(2, at("08:00:00"), func(v *job.Version) { v.Deleted = true }))
	f.want(t, outcome.NoJob, "the job was deleted by ann at 2026-03-07T08:00:00Z", outcome.OpenLedger)
}

func TestAFireAheadIsForetold(t *testing.T) {
	f := asked(daily)
	f.Now = at("08:00:00")
	f.Ahead = []Ahead{{FireTime: at("09:00:00")}}
	f.Entries = []outcome.Entry{entry(outcome.Undecided, "", finding.ShardNotThere.With(at("08:00:00")))}
	f.want(t, outcome.WillRun, "the job will fire at 2026-03-07T09:00:00Z", outcome.EditSchedule, outcome.RunNow)

	f.Ahead[0].Reason = reason.Text(reason.FireSkippedNote.With("bob", "stocktaking; ask me"))
	f.want(t, outcome.WillSkip, "the fire of 2026-03-07T09:00:00Z will be skipped; skipped by bob: stocktaking; ask me", outcome.TakeBackSkip, outcome.EditSchedule, outcome.RunNow)

	f.Entries[0].Due = at("07:59:59")
	f.want(t, outcome.Unknown, "the fire of 2026-03-07T09:00:00Z is not decided yet; its shard has come up to 2026-03-07T08:00:00Z", outcome.OpenServers, outcome.OpenLedger)
}

func TestATimeThatClocksSkippedIsExplained(t *testing.T) {
	f := asked(func(v *job.Version) { v.Schedule.Cron, v.Schedule.Zone = "30 2 * * *", "Europe/Berlin" })
	var err error
	if f.Moment, err = job.ParseMoment("2026-03-29T02:30", "Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	f.Now = f.Moment.At.Add(time.Hour)
	e := entry(outcome.Ran, job.StatusSucceeded, "")
	e.FireTime, e.Due, e.StartedAt = f.Moment.At, f.Moment.At, f.Moment.At
	f.Entries = []outcome.Entry{e}
	a := f.Answer()
	if want := "clocks were put forward at 2026-03-29T01:00:00Z, and 02:30 did not exist: this is the next minute that did; the fire of 2026-03-29T01:00:00Z ran on time"; !strings.HasPrefix(string(a.Reason), want) {
		t.Errorf("got %s", a.Reason)
	}
	f.Entries = nil
	f.Versions[0].Schedule.DST = "gap=skip"
	f.want(t, outcome.NoFire, "no fire at 2026-03-29T01:00:00Z; clocks were put forward at 2026-03-29T01:00:00Z, and 02:30 did not exist: by gap=skip the schedule does not fire then",
		outcome.EditSchedule, outcome.RunNow)
}
