package bus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var update = flag.Bool("update", false, "rewrite the golden files with what is encoded now")

var (
	noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	run  = job.FireRunID("billing/nightly", noon.UnixMilli(), job.CauseSchedule)
)

func trigger() *bus.Trigger {
	return &bus.Trigger{
		RunID: run, Job: "billing/nightly", Version: 3, Shard: 17, Attempt: 1, Cause: job.CauseSchedule,
		FireTime: noon, CommittedAt: noon.Add(7 * time.Millisecond),
		TriggerBody: bus.TriggerBody{
			Delivery: job.AtMostOnce, Route: job.RouteConsistentHash, Labels: job.Labels{"gpu": "true", "zone": "eu"}, Timeout: job.Duration(90 * time.Second),
			Task:   job.Task{Command: []string{"report", "--day", "<today>"}, Dir: "/srv", Env: map[string]string{"A": "1", "B": "ü"}, Stdin: "x\n"},
			Params: json.RawMessage(`{"n":1,"text":"é"}`),
		},
	}
}

// message returns the message of e, as the executor that got the attempt publishes it.
func message(tokens *bus.Tokens, e *bus.Event) (*nats.Msg, error) {
	return e.Msg(tokens.Trigger(&bus.Trigger{RunID: e.RunID, Job: e.Job, Attempt: e.Attempt, Piece: e.Piece}, e.Retry, time.Now()))
}

// logMessage returns the message of l, as that executor publishes it.
func logMessage(tokens *bus.Tokens, l *bus.Log) (*nats.Msg, error) {
	return l.Msg(tokens.Trigger(&bus.Trigger{RunID: l.RunID, Job: l.Job, Attempt: l.Attempt, Piece: l.Piece}, false, time.Now()))
}

func event(kind bus.EventKind) *bus.Event {
	e := bus.EventOf(trigger(), kind, noon.Add(2*time.Second))
	e.Instance, e.Delivery = "worker-1", 2
	switch kind {
	case bus.EventStarted:
		e.DeliveredAt, e.StartedAt, e.RouteReason = noon.Add(990*time.Millisecond), noon.Add(time.Second), "worker-0 is busy (8/8); worker-1 was chosen by first"
	case bus.EventHeld:
		e.Instance, e.Text = "", "no instance is free: worker-1 is busy (8/8)"
	case bus.EventProgress:
		e.Percent, e.Text = 42.5, "half way"
	case bus.EventFinished:
		code := 0
		e.DeliveredAt, e.StartedAt, e.FinishedAt = noon.Add(990*time.Millisecond), noon.Add(time.Second), noon.Add(2*time.Second)
		e.Status, e.ExitCode, e.Message, e.Result, e.LogLines = job.StatusSucceeded, &code, "well done", json.RawMessage(`[1]`), 12
	}
	return e
}

// golden compares what a message is encoded as with the file that readers in other
// languages are tested against, and what the file decodes to with the message.
func golden[T any](t *testing.T, file string, encoded []byte, value *T, decode func([]byte) (*T, error)) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, encoded, "", "  "); err != nil {
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
	var compact bytes.Buffer
	if err := json.Compact(&compact, want); err != nil {
		t.Fatal(err)
	}
	got, err := decode(compact.Bytes())
	if err != nil {
		t.Fatalf("decode %s: %v", file, err)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Errorf("%s decoded (-want +got):\n%s", file, diff)
	}
}

// body returns the data of a message, whose subject and kind must be as given.
func body(t *testing.T, subject, kind string) func(*nats.Msg, error) []byte {
	t.Helper()
	return func(m *nats.Msg, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject != subject || m.Header.Get(bus.HeaderMessage) != kind {
			t.Errorf("message %q on %q; want %q on %q", m.Header.Get(bus.HeaderMessage), m.Subject, kind, subject)
		}
		return m.Data
	}
}

// vouched returns the header of a message that a server says.
func vouched(kind string, data []byte) nats.Header {
	m := bus.NewMessage("", kind, data)
	tokens.Vouch(m, time.Now())
	return m.Header
}

func plain[T any](data []byte) (*T, error) {
	v := new(T)
	return v, json.Unmarshal(data, v)
}

func TestMessagesAreWhatTheGoldenFilesSay(t *testing.T) {
	full := trigger()
	text, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decodeTrigger := func(data []byte) (*bus.Trigger, error) { return bus.DecodeTrigger(nil, data) }
	golden(t, "trigger.json", bus.AppendTrigger(nil, full, text), full, decodeTrigger)
	piece := trigger()
	piece.Attempt, piece.StartBy, piece.EndBy, piece.ParentRun = 2, noon.Add(time.Minute), noon.Add(time.Hour), run
	piece.Piece, piece.Prefer, piece.Item = bus.Piece{Index: 1, Total: 3}, "worker-1", json.RawMessage(`{"day":"2026-03-01"}`)
	golden(t, "trigger-piece.json", bus.AppendTrigger(nil, piece, text), piece, decodeTrigger)
	split := trigger()
	split.Split, split.Map = true, &job.Map{Split: true, AtOnce: 5}
	splitText, err := split.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "trigger-split.json", bus.AppendTrigger(nil, split, splitText), split, decodeTrigger)

	packed := trigger()
	packed.Report = "evt.p0.billing"
	golden(t, "trigger-packed.json", bus.AppendTrigger(nil, packed, text), packed, decodeTrigger)

	for _, kind := range []bus.EventKind{bus.EventStarted, bus.EventProgress, bus.EventHeld, bus.EventFinished} {
		e := event(kind)
		e.Shard = e.Job.Shard(64)
		subject := bus.SubjectEvent(e.Shard, "billing")
		golden(t, "event-"+string(kind)+".json", body(t, subject, bus.MessageEvent)(e.Msg("")), e, func(data []byte) (*bus.Event, error) {
			return tokens.DecodeEvent(subject, vouched(bus.MessageEvent, data), data, e.At, 64)
		})
	}

	mark := &bus.Mark{
		RunID: run, Job: "billing/nightly", Version: 3, Attempt: 2, Cause: job.CauseSchedule, Status: job.StatusFailed,
		As: job.MarkSucceeded, Note: "sent by hand", By: "ada", At: noon,
	}
	golden(t, "mark.json", body(t, bus.SubjectMark(job.Name("billing/nightly").Shard(64), "billing"), bus.MessageMark)(mark.Msg(64)), mark,
		func(data []byte) (*bus.Mark, error) { return bus.DecodeMark(nil, data) })

	log := &bus.Log{
		RunID: run, Job: "billing/nightly", Attempt: 1, Instance: "worker-1",
		Lines: []bus.LogLine{{Seq: 1, At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "hällo"}, {Seq: 2, At: noon, Level: bus.LevelError, Output: bus.OutputSystem}},
	}
	golden(t, "log.json", body(t, "log.billing."+string(run), bus.MessageLog)(log.Msg("")), log, func(data []byte) (*bus.Log, error) {
		return tokens.DecodeLog("log.billing", vouched(bus.MessageLog, data), data)
	})

	request := &bus.TriggerRequest{RunID: run, Job: "billing/nightly", Cause: job.CauseAPI, Params: json.RawMessage(`{"n":2}`), By: "ada"}
	asJSON := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	golden(t, "trigger-request.json", asJSON(request), request, plain[bus.TriggerRequest])
	again := &bus.TriggerRequest{
		RunID: job.RetryRunID(run, "x"), Job: "billing/nightly", Cause: job.CauseRerun, RetryOf: run, By: "ada",
		Version: 2, Body: asJSON(bus.TriggerBody{Delivery: job.AtLeastOnce, Map: &job.Map{Pieces: 3}, Task: job.Task{Handler: "h"}}), Pieces: &bus.Pieces{States: "sws"},
	}
	golden(t, "retry-request.json", asJSON(again), again, plain[bus.TriggerRequest])
	reply := &bus.TriggerReply{RunID: run, Version: 3, Status: job.StatusQueued, Reason: "it waits for 1 earlier run"}
	golden(t, "trigger-reply.json", asJSON(reply), reply, plain[bus.TriggerReply])
	wait := &bus.WaitRequest{ID: run, Job: "billing/nightly", Act: bus.WaitSignal, Signal: "paid", Key: "17", Result: json.RawMessage(`{"sum":3}`), By: "ada", At: noon}
	golden(t, "wait-request.json", asJSON(wait), wait, plain[bus.WaitRequest])
	approve := &bus.WaitRequest{ID: run, RunID: run, Job: "billing/nightly", Step: "ok", Act: bus.WaitApprove, By: "ada", Note: "looks well", At: noon}
	golden(t, "approve-request.json", asJSON(approve), approve, plain[bus.WaitRequest])
	cancel := &bus.CancelRequest{RunID: run, Job: "billing/nightly", By: "ada", Reason: "wrong day"}
	golden(t, "cancel-request.json", asJSON(cancel), cancel, plain[bus.CancelRequest])
	kill := &bus.KillRequest{RunID: run, By: "ada", Reason: "wrong day"}
	golden(t, "kill-request.json", asJSON(kill), kill, plain[bus.KillRequest])
	hold := &job.Pause{Paused: true, EffectiveFrom: noon, Author: "ada", Note: "move of the data centre"}
	golden(t, "hold.json", asJSON(hold), hold, plain[job.Pause])
	beat := &bus.Heartbeat{ControlSecret: "K7MZQ2XWVN4BTRJDS5LCHYG3FE", Instance: fleet.Instance{
		Group: "billing", Instance: "worker-1", State: fleet.InstanceOnline, Kinds: []string{"handler"}, Handlers: []string{"h"}, Slots: 8, Running: 1,
		Protocol: 3, Version: "1.2.3", SDK: "carillon-go/0.1.0", Host: "host", PID: 7, StartedAt: noon, At: noon,
	}}
	golden(t, "instance.json", asJSON(beat), beat, func(data []byte) (*bus.Heartbeat, error) { return bus.ParseHeartbeat("billing.worker-1", data) })
}

func TestAppendTriggerIsWhatJSONMarshalWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	texts := []string{"", "true", "a \"b\" \\ <c> & \u2028\n\x00é", strings.Repeat("x", 999)}
	text := func() string { return texts[rng.IntN(len(texts))] }
	for range 2000 {
		at := noon.Add(time.Duration(rng.Int64N(1e15)))
		at = at.Truncate([]time.Duration{time.Second, 100 * time.Millisecond, time.Millisecond}[rng.IntN(3)])
		tr := &bus.Trigger{
			RunID: job.NewRunID(at), Job: job.Name("g/" + string(rune('a'+rng.IntN(26)))), Version: rng.IntN(1 << 30), Shard: rng.IntN(64),
			Attempt: 1 + rng.IntN(3), Cause: job.Causes[rng.IntN(len(job.Causes))], FireTime: at, CommittedAt: at.Add(time.Duration(rng.IntN(9)) * time.Millisecond),
			TriggerBody: bus.TriggerBody{Task: job.Task{Handler: text(), Shell: text(), Dir: text()}},
		}
		if rng.IntN(2) == 0 {
			tr.Route, tr.Labels = job.RouteFirst, job.Labels{"zone": "eu"}
			tr.Delivery, tr.Timeout = job.AtLeastOnce, job.Duration(rng.Int64N(1e12))
			tr.Task.Command, tr.Task.Env = []string{text(), text()}, map[string]string{"A": text()}
			tr.Params = json.RawMessage(`{"a":[1,2,{"b":null}]}`)
			tr.StartBy, tr.EndBy, tr.ParentRun = noon.Add(time.Minute), noon.Add(time.Hour), run
			tr.Piece, tr.Prefer, tr.Item = bus.Piece{Index: rng.IntN(2), Total: 2}, "worker-1", json.RawMessage(`{"day":1}`)
		}
		encoded, err := tr.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		if got := bus.AppendTrigger([]byte("before"), tr, encoded); string(got) != "before"+string(want) {
			t.Fatalf("appended\n%s, want\n%s", got, want)
		}
	}
}

// everyField returns a T none of whose fields is zero.
func everyField[T any](t *testing.T) *T {
	t.Helper()
	v := new(T)
	fillFields(t, reflect.ValueOf(v).Elem())
	return v
}

func fillFields(t *testing.T, fields reflect.Value) {
	t.Helper()
	for i := range fields.NumField() {
		switch f := fields.Field(i); x := f.Addr().Interface().(type) {
		case *time.Time:
			*x = noon.Add(time.Duration(i) * time.Millisecond)
		case *json.RawMessage:
			*x = json.RawMessage(` { "a" : "<" } `)
		case **int:
			*x = &i
		default:
			switch {
			case f.CanInt():
				f.SetInt(int64(i + 1))
			case f.CanFloat():
				f.SetFloat(float64(i) + 0.5)
			case f.Kind() == reflect.Bool:
				f.SetBool(true)
			case f.Kind() == reflect.Struct:
				fillFields(t, f)
			case f.Kind() == reflect.String:
				f.SetString("<\"\\\x00é\u2028\xff" + strconv.Itoa(i))
			default:
				t.Fatalf("give field %s a value here", fields.Type().Field(i).Name)
			}
		}
	}
}

func TestEventsAreEncodedFieldForFieldAsJSONMarshalDoes(t *testing.T) {
	for _, e := range []*bus.Event{everyField[bus.Event](t), {}} {
		m, err := e.Msg("")
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		values := func(data []byte) (v map[string]any) {
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			return v
		}
		if diff := cmp.Diff(values(want), values(m.Data)); diff != "" {
			t.Errorf("(-json.Marshal +Msg):\n%s", diff)
		}
	}
	for _, bad := range []*bus.Event{{Result: json.RawMessage("{")}, {Percent: math.NaN()}} {
		if m, err := bad.Msg(""); err == nil {
			t.Errorf("%+v became %s", bad, m.Data)
		}
	}
}

func TestDecodeEventRefusesWhatItsSpeakerMayNotSay(t *testing.T) {
	shard := job.Name("billing/nightly").Shard(64)
	subject := bus.SubjectEvent(shard, "billing")
	refused := func(field string, change func(e *bus.Event)) {
		t.Helper()
		e := event(bus.EventFinished)
		e.Shard = shard
		change(e)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tokens.DecodeEvent(subject, vouched(bus.MessageEvent, data), data, noon, 64)
		if p := job.Problems(err); len(p) != 1 || p[0].Field != field {
			t.Errorf("%v; want a problem of %s", err, field)
		}
	}
	refused("run_id", func(e *bus.Event) { e.RunID = "x" })
	refused("job", func(e *bus.Event) { e.Job = "nightly" })
	refused("job", func(e *bus.Event) { e.Job = "payroll/nightly" }) // another group's
	refused("shard", func(e *bus.Event) { e.Job = "billing/other" }) // of another shard
	refused("attempt", func(e *bus.Event) { e.Attempt = 0 })
	refused("broadcast_total", func(e *bus.Event) { e.Total = -1 })
	refused("broadcast_index", func(e *bus.Event) { e.Index, e.Total = 3, 3 })
	refused("broadcast_index", func(e *bus.Event) { e.Index = 1 }) // of a run without pieces
	refused("run_id", func(e *bus.Event) {                         // of another job's fire
		e.RunID, e.Cause = job.FireRunID("payroll/nightly", noon.UnixMilli(), job.CauseSchedule), job.CauseSchedule
	})
	refused("kind", func(e *bus.Event) { e.Kind = "ended" })
	for _, kind := range []bus.EventKind{bus.EventStarted, bus.EventProgress, bus.EventHeld} {
		refused("cause", func(e *bus.Event) { e.Kind, e.Cause = kind, "webhook" })
		refused("instance", func(e *bus.Event) { e.Kind, e.Instance = kind, strings.Repeat("x", 257) })
	}
	e := event(bus.EventFinished)
	e.Shard = shard
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "evt", "evt.x.billing", "evt.1", "log.1.billing"} {
		if _, err := tokens.DecodeEvent(bad, vouched(bus.MessageEvent, data), data, noon, 64); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("on %q: %v", bad, err)
		}
	}
	if _, err := tokens.DecodeEvent(bus.SubjectEvent(shard, "payroll"), vouched(bus.MessageEvent, data), data, noon, 64); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("on another group's subject: %v", err)
	}
	if _, err := tokens.DecodeEvent(subject, vouched("event.v2", data), data, noon, 64); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("of a later version: %v", err)
	}
	if _, err := tokens.DecodeEvent(subject, nil, data, noon, 64); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("of no version: %v", err)
	}
	if _, err := tokens.DecodeEvent(subject, vouched(bus.MessageEvent, []byte("{")), []byte("{"), noon, 64); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("that is no JSON: %v", err)
	}
}

// The ids are part of the protocol: two ends with one id are one to JetStream, which then
// keeps the first and says that it has stored the second.
func TestEventsHaveTheIDsThatTheProtocolSays(t *testing.T) {
	f := func(want string, kind bus.EventKind, change func(*bus.Event)) {
		t.Helper()
		e := event(kind)
		e.Delivery = 1
		change(e)
		m, err := e.Msg("")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header.Get(nats.MsgIdHdr); got != string(run)+":"+want {
			t.Errorf("%s: %q; want <run id>:%s", kind, got, want)
		}
	}
	same := func(*bus.Event) {}
	later := func(e *bus.Event) { e.At = e.At.Add(time.Hour) }
	second := func(e *bus.Event) { e.Attempt = 2 }
	again := func(e *bus.Event) { e.Delivery = 2 }
	piece := func(e *bus.Event) { e.Index, e.Total = 1, 3 }
	f("1:finished", bus.EventFinished, same)
	f("1:finished", bus.EventFinished, later)
	f("1:finished", bus.EventFinished, again)
	f("2:finished", bus.EventFinished, second)
	f("1.1:finished", bus.EventFinished, piece)
	f("1.0:finished", bus.EventFinished, func(e *bus.Event) { e.Total = 3 })
	f("1:started:1", bus.EventStarted, same)
	f("1:started:1", bus.EventStarted, later)
	f("1:started:2", bus.EventStarted, again)
	f("1.1:started:1", bus.EventStarted, piece)
	f("1:held:2", bus.EventHeld, again)
	f("1:progress:"+strconv.FormatInt(noon.Add(2*time.Second).UnixMilli(), 36), bus.EventProgress, same)
	f("1.1:progress:"+strconv.FormatInt(noon.Add(2*time.Second).UnixMilli(), 36), bus.EventProgress, piece)
}
