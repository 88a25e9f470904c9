package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

var update = flag.Bool("update", false, "rewrite the golden files with what is encoded now")

var (
	noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	run  = job.FireRunID("billing/nightly", noon.UnixMilli(), job.CauseSchedule)
)

// golden compares a message with its file: subject, kind, what it is encoded as, and what the file
// decodes to.
func golden[T any](t *testing.T, file, subject, kind string, m *nats.Msg, value *T, decode func(nats.Header, []byte) (*T, error)) {
	t.Helper()
	if m.Subject != subject || m.Header.Get(bus.HeaderMessage) != kind {
		t.Errorf("%s: message %q on %q; want %q on %q", file, m.Header.Get(bus.HeaderMessage), m.Subject, kind, subject)
	}
	var pretty, compact bytes.Buffer
	if err := json.Indent(&pretty, m.Data, "", "  "); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	pretty.WriteByte('\n')
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
		t.Errorf("%s (-file +now):\n%s", file, diff)
	}
	if err := json.Compact(&compact, want); err != nil {
		t.Fatal(err)
	}
	got, err := decode(nil, compact.Bytes())
	if err != nil {
		t.Fatalf("decode %s: %v", file, err)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Errorf("%s decoded (-want +got):\n%s", file, diff)
	}
}

// encoded is m, which must have been encoded without an error.
func encoded(t *testing.T) func(*nats.Msg, error) *nats.Msg {
	t.Helper()
	return func(m *nats.Msg, err error) *nats.Msg {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

func TestMessagesAreAsTheirFilesSay(t *testing.T) {
	trigger := json.RawMessage(`{"run_id":"019ca945-0a00-7740-b3ff-812ebe717fa0"}`)
	cursor := &journal.Cursor{
		Shard: 17, Epoch: 5, Node: "node-1", Commit: "5.9", Done: noon, EventSeq: 99, Released: []uint64{3, 8},
		Sweep: &journal.Sweep{To: noon.Add(time.Second), After: "billing/nightly"}, JobsSeq: 321, Jobs: journal.JobsMark{Made: noon, Seq: 345},
		Begins: []journal.Begin{{Job: "billing/report", Version: 3, After: noon.Add(-time.Second)}},
		Moved:  journal.Moved{Since: noon.Add(-time.Hour), Fires: []journal.MovedFire{{Job: "billing/invoice", At: noon.Add(-time.Minute)}}},
	}
	golden(t, "cursor.json", "cur.17", bus.MessageCursor, encoded(t)(cursor.Msg()), cursor, journal.DecodeCursor)
	parted := *cursor
	parted.Made, parted.Letters = noon, map[int]journal.LetterMark{4: {Made: noon, Seq: 7}, 18: {Made: noon, Seq: 12345}}
	golden(t, "cursor-partitions.json", "cur.17", bus.MessageCursor, encoded(t)(parted.Msg()), &parted, journal.DecodeCursor)

	delay := &journal.Deferred{Kind: journal.DeferredDelay, Job: "billing/nightly", Since: noon}
	end := &journal.Deferred{Kind: journal.DeferredEnd, Job: "billing/nightly", RunID: run}
	waiting := &journal.Deferred{Kind: journal.DeferredRetry, Job: "billing/nightly", Due: noon.Add(time.Minute), Trigger: trigger}
	child := &journal.Deferred{Kind: journal.DeferredChild, Job: "billing/after", Parent: &journal.ParentEnd{
		Job: "billing/nightly", RunID: run, Status: job.StatusSucceeded, At: noon, Params: json.RawMessage(`[1]`), Depth: 1,
	}}
	failures := &journal.Deferred{Kind: journal.DeferredFailures, Job: "billing/nightly", Count: 2}
	succeeded := &journal.Deferred{Kind: journal.DeferredSucceeded, Job: "billing/nightly", RunID: run}
	pause := &journal.Deferred{Kind: journal.DeferredPause, Job: "billing/nightly", Version: 3, Reason: "3 runs in a row ended badly"}
	golden(t, "deferred-delay.json", "defer.17", bus.MessageDeferred, encoded(t)(delay.Msg(17)), delay, journal.DecodeDeferred)
	golden(t, "deferred-end.json", "defer.17", bus.MessageDeferred, encoded(t)(end.Msg(17)), end, journal.DecodeDeferred)

	pieces := &journal.Deferred{Kind: journal.DeferredPieces, Job: "billing/nightly", Trigger: trigger, Pieces: &bus.Pieces{
		States: "sFtbw", Instances: []string{"a", "b", "c", "d", "e"}, Items: []json.RawMessage{[]byte(`1`), []byte(`"x"`), []byte(`{}`), []byte(`[]`), []byte(`null`)},
		Split: 1, StartWithin: job.Duration(time.Minute), StartBy: noon.Add(time.Minute), Cancelled: "wrong day",
	}}

	asked := &journal.Deferred{Kind: journal.DeferredAsked, Since: noon, Asked: []journal.Asked{{ID: run, TriggerReply: bus.TriggerReply{RunID: run, Version: 3, Status: job.StatusPending}, Key: &journal.KeyedRun{
		Key: "billing.k2Yb7Q0mS1uVx3zA9cDeFg", RunID: run, Version: 3, Params: "l5Xc8R2nT4wZy6bB0dEfGh", By: "ann", Since: noon, Until: noon.Add(bus.KeyFor),
	}}}}
	letter, relayed := *child, *child
	letter.Kind, letter.Letter = journal.DeferredLetter, &journal.LetterID{From: 4, At: journal.LetterMark{Made: noon}}
	relayed.Letter = &journal.LetterID{From: 4, At: journal.LetterMark{Made: noon, Seq: 7}}
	workflow := &journal.Deferred{Kind: journal.DeferredWorkflow, Job: "billing/nightly", Trigger: trigger, Given: json.RawMessage(`{"region":"eu"}`)}
	steps := &journal.Deferred{Kind: journal.DeferredSteps, Job: "billing/nightly", RunID: run, Steps: &journal.Steps{
		States: "sftrk.", Ending: job.StatusCancelled, Reason: "cancelled by ann", Force: true, Stopped: true,
		Waits: map[string]runlog.Wait{"ok": {
			Kind: runlog.WaitApproval, Since: noon, Expires: noon.Add(time.Hour), By: []string{"role:operator"}, Min: 2, Approvals: []runlog.Approval{{By: "ann", At: noon}},
		}},
		Signalled: map[string]journal.Signalled{"paid": {By: "shop", At: noon}},
	}}
	result := &journal.Deferred{Kind: journal.DeferredResult, Job: "billing/nightly", RunID: run, Step: "load", Result: json.RawMessage(`{"rows":7}`)}
	for _, d := range []*journal.Deferred{asked, pieces, workflow, steps, result, waiting, child, &letter, failures, succeeded, pause} {
		golden(t, "deferred-"+string(d.Kind)+".json", "defer.17", bus.MessageDeferred, encoded(t)(d.Msg(17)), d, journal.DecodeDeferred)
	}
	golden(t, "deferred-child-relayed.json", "defer.17", bus.MessageDeferred, encoded(t)(relayed.Msg(17)), &relayed, journal.DecodeDeferred)

	record := &journal.Record{
		Shard: 17, Epoch: 5, Commit: "5.9", Node: "node-1", At: noon.Add(7 * time.Millisecond),
		Outcomes: []journal.Outcome{
			{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: noon, Jobs: []string{"billing/nightly@3", "billing/weekly@1"}},
			{Status: job.StatusMissed, Cause: job.CauseSchedule, Reason: "noticed too late", FireTime: noon.Add(-time.Hour), Until: noon.Add(-time.Minute), Count: 60, Jobs: []string{"billing/often@2"}},
			{Status: job.StatusPending, Cause: job.CauseManual, FireTime: noon, Jobs: []string{"billing/nightly@3"}, RunIDs: []job.RunID{run}, By: "ada"},
		},
	}
	golden(t, "record.json", "rec.17", bus.MessageRecord, encoded(t)(record.Msg()), record, journal.DecodeRecord)
}

// Whoever calls a job, who answers, and who calls the run off write letters that servers of other versions read.
func TestLettersOfCallsAreAsTheirFilesSay(t *testing.T) {
	caller := journal.Caller{Job: "billing/nightly", RunID: run, Step: "close", Nested: 2}
	called := job.StepRunID(run, "close")
	call := &journal.Deferred{Kind: journal.DeferredChild, Job: "mail/send", Call: &journal.Call{
		RunID: called, Caller: caller, FireTime: noon, Params: json.RawMessage(`{"rows":7}`), Depth: 3,
	}}
	end := &journal.Deferred{Kind: journal.DeferredChild, Job: "billing/nightly", CallEnd: &journal.CallEnd{
		RunID: called, Caller: caller, Status: job.StatusSucceeded, Result: json.RawMessage(`{"sent":7}`), At: noon,
	}}
	refused := &journal.Deferred{Kind: journal.DeferredChild, Job: "billing/nightly", CallEnd: &journal.CallEnd{
		RunID: called, Caller: caller, Status: job.StatusSkipped, Refused: "the called job is paused", At: noon,
	}}
	off := &journal.Deferred{Kind: journal.DeferredChild, Job: "mail/send", CallOff: &journal.CallOff{RunID: called, Reason: "cancelled by ann"}}
	alive := &journal.Deferred{Kind: journal.DeferredAlive, Job: "mail/send", Trigger: json.RawMessage(`{"run_id":"` + string(called) + `"}`), Caller: &caller}
	left := *call
	left.Kind, left.Letter = journal.DeferredLetter, &journal.LetterID{From: 4, At: journal.LetterMark{Made: noon}}
	for name, d := range map[string]*journal.Deferred{
		"call": call, "call-end": end, "call-refused": refused, "call-off": off, "call-letter": &left, "called": alive,
	} {
		golden(t, "deferred-"+name+".json", "defer.17", bus.MessageDeferred, encoded(t)(d.Msg(17)), d, journal.DecodeDeferred)
	}
}

func TestReadersPassOverFieldsThatTheyDoNotKnow(t *testing.T) {
	d, err := journal.DecodeDeferred(nil, []byte(`{"kind":"delay","job":"g/a","since":"2026-03-01T12:00:00Z","later":true}`))
	if err != nil || d.Job != "g/a" || !d.Since.Equal(noon) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestEachLineOfARecordIsOneRunOrTheReasonWhyThereIsNone(t *testing.T) {
	id := func(name job.Name) job.RunID { return job.FireRunID(name, noon.UnixMilli(), job.CauseSchedule) }
	r := &journal.Record{Outcomes: []journal.Outcome{
		{Status: job.StatusPending, Cause: job.CauseMisfire, Reason: "late", FireTime: noon, Jobs: []string{"g/a@1", "g/b@22"}},
		{Status: job.StatusPending, Cause: job.CauseAPI, FireTime: noon, Jobs: []string{"g/a@1"}, RunIDs: []job.RunID{run}, By: "ada", ParentRun: id("g/b"), Attempt: 2, Total: 7},
		{Status: job.StatusMissed, Cause: job.CauseSchedule, FireTime: noon, Until: noon.Add(time.Hour), Count: 3, Jobs: []string{"g/a@1"}},
	}}
	var got []journal.Decided
	if err := r.Each(func(d journal.Decided) { got = append(got, d) }); err != nil {
		t.Fatal(err)
	}
	want := []journal.Decided{
		{RunID: id("g/a"), Job: "g/a", Version: 1, Attempt: 1, Status: job.StatusPending, Cause: job.CauseMisfire, Reason: "late", FireTime: noon, Count: 1},
		{RunID: id("g/b"), Job: "g/b", Version: 22, Attempt: 1, Status: job.StatusPending, Cause: job.CauseMisfire, Reason: "late", FireTime: noon, Count: 1},
		{RunID: run, Job: "g/a", Version: 1, Attempt: 2, Status: job.StatusPending, Cause: job.CauseAPI, By: "ada", Parent: id("g/b"), FireTime: noon, Count: 1, Total: 7},
		{RunID: id("g/a"), Job: "g/a", Version: 1, Attempt: 1, Status: job.StatusMissed, Cause: job.CauseSchedule, FireTime: noon, Until: noon.Add(time.Hour), Count: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	bad := &journal.Record{Outcomes: []journal.Outcome{{Jobs: []string{"g/a"}}}}
	if err := bad.Each(func(journal.Decided) {}); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("a line without a version: %v", err)
	}
}

func TestAPingOfARecordHasItsOutputAndThatOfANoticeHasNone(t *testing.T) {
	exit := 3
	ping := &runlog.Ping{
		ID: "01a2b3c4d5e6f708", Host: "web1", By: "Zx81Qq45mN0p", StartedAt: noon, FinishedAt: noon.Add(time.Minute), ExitCode: &exit,
		Message: "disk full", Output: "copying\nno space left", OutputCut: 17,
	}
	r := &journal.Record{Shard: 17, At: noon, Outcomes: []journal.Outcome{
		{Status: job.StatusRunning, Cause: job.CauseSchedule, FireTime: noon, Jobs: []string{"ops/backup@3"}, Ping: &runlog.Ping{ID: "00", StartedAt: noon}},
		{Status: job.StatusFailed, Cause: job.CauseSchedule, FireTime: noon, Jobs: []string{"ops/backup@3"}, Ping: ping},
	}}
	golden(t, "record-ping.json", "rec.17", bus.MessageRecord, encoded(t)(r.Msg()), r, journal.DecodeRecord)
	var lines []*runlog.Ping
	if err := r.Each(func(d journal.Decided) { lines = append(lines, d.Ping) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*runlog.Ping{{ID: "00", StartedAt: noon}, ping}, lines); diff != "" {
		t.Errorf("pings of the lines (-want +got):\n%s", diff)
	}
	notice, err := journal.DecodeRecord(nil, encoded(t)(r.Notice()).Data)
	if err != nil {
		t.Fatal(err)
	}
	want := *ping
	want.Output = ""
	if len(notice.Outcomes) != 1 || !cmp.Equal(&want, notice.Outcomes[0].Ping) {
		t.Errorf("the notice has %+v; want the end, without what was printed", notice.Outcomes)
	}
	if ping.Output == "" {
		t.Error("the record has lost what was printed")
	}
}
