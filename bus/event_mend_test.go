package bus_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// mended returns what the readers make of a finished event in which a text was replaced.
func mended(t *testing.T, stored time.Time, change ...string) *bus.Event {
	t.Helper()
	m := endEvent(t, func(e *bus.Event) { e.Result = []byte(`{"rows":7}`) })
	data := strings.NewReplacer(change...).Replace(string(m.Data))
	if data == string(m.Data) && len(change) > 0 {
		t.Fatalf("%s has no %q", data, change[0])
	}
	e, err := tokens.DecodeEvent(m.Subject, m.Header, []byte(data), stored, 64)
	if err != nil {
		t.Fatalf("of %s: %v", data, err)
	}
	return e
}

var fired = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// A program in another language writes what JSON has no form for, or a word of its own. Its
// attempt is over all the same, and a job that waits for it must go on.
func TestAnEndThatSaysWhoseItIsCountsWhateverElseIsWrong(t *testing.T) {
	stored := fired.Add(2 * time.Second)
	failed := func(reason string, change ...string) {
		t.Helper()
		e := mended(t, stored, change...)
		if e.Status != job.StatusFailed || !strings.Contains(e.Message, reason) || e.Result != nil || e.Retry {
			t.Errorf("%v: %s, %q, result %s; want failed, with %q", change, e.Status, e.Message, e.Result, reason)
		}
		if e.RunID.Time() != fired || e.Job != "billing/report" || e.Attempt != 1 || e.Shard != e.Job.Shard(64) || e.Instance == "" && !strings.Contains(change[0], "worker") {
			t.Errorf("%v: it is of %+v", change, e)
		}
		if e.FinishedAt.IsZero() || e.FinishedAt.Before(e.StartedAt) || e.At.IsZero() {
			t.Errorf("%v: it began %v and ended %v", change, e.StartedAt, e.FinishedAt)
		}
		if again := mended(t, stored, change...); again.Message != e.Message {
			t.Errorf("%v: one reader reads %q, another %q", change, e.Message, again.Message)
		}
	}
	failed(`"ok"`, `"succeeded"`, `"ok"`)
	failed(`status`, `"succeeded"`, `7`)
	failed(`status`, `,"status":"succeeded"`, ``)
	failed(`status "skipped"`, `"succeeded"`, `"skipped"`)
	failed("NaN or Infinity", `{"rows":7}`, `{"ratio":NaN,"text":"a \"NaN\" b"}`)
	failed("NaN or Infinity", `{"rows":7}`, `[Infinity,-Infinity]`)
	failed("at", `"at":"2026-01-05T00:00:01Z"`, `"at":"2026-01-05 00:00:01"`)
	failed("finished_at", `"finished_at":"2026-01-05T00:00:01Z"`, `"finished_at":1767571201`)
	failed("exit_code", `"log_lines":10`, `"log_lines":10,"exit_code":"3"`)
	failed("cause", `"cause":"schedule"`, `"cause":"webhook"`)
	failed("cause", `"cause":"schedule"`, `"cause":7`)
	failed("log_lines", `"log_lines":10`, `"log_lines":-1`)
	failed("version", `"version":3`, `"version":"three"`)
	failed("instance", `"worker-1"`, `"`+strings.Repeat("x", 1000)+`"`)

	// Nothing is lost by these, as they are said elsewhere, too.
	for _, change := range [][2]string{{`"fire_time":"2026-01-05T00:00:00Z",`, ``}, {`"fire_time":"2026-01-05T00:00:00Z"`, `"fire_time":"2026-01-05"`}, {`"shard":`, `"shard":1`}, {`"at":"2026-01-05T00:00:01Z",`, ``}, {`"finished_at":"2026-01-05T00:00:01Z",`, ``}} {
		if e := mended(t, stored, change[0], change[1]); e.Status != job.StatusSucceeded || e.Message != "" || !e.FireTime.Equal(fired) || e.FinishedAt.IsZero() {
			t.Errorf("%v: %+v", change, e)
		}
	}
}

func TestWhatDoesNotSayWhoseEndItIsIsRefused(t *testing.T) {
	m := endEvent(t, func(*bus.Event) {})
	for _, change := range [][2]string{
		{`"kind":"finished"`, `"kind":"started","x":NaN`},
		{`"run_id":"`, `"run_id":"x`},
		{`"attempt":1`, `"attempt":"1"`},
		{`"attempt":1`, `"attempt":NaN`},
		{`"attempt":1`, `"attempt":4294967296`},
		{`"job":"billing/report"`, `"job":"report"`},
		{`"attempt":1`, `"attempt":1,"broadcast_index":"2","broadcast_total":3`},
		{`}`, ``},
	} {
		data := strings.Replace(string(m.Data), change[0], change[1], 1)
		if e, err := tokens.DecodeEvent(m.Subject, vouched(bus.MessageEvent, []byte(data)), []byte(data), fired.Add(time.Second), 64); err == nil || data == string(m.Data) {
			t.Errorf("%v: %+v", change, e)
		}
	}
}

func TestTimesThatCannotBeAreCorrectedAndSaid(t *testing.T) {
	stored := fired.Add(2 * time.Second)
	f := func(startedAt, finishedAt time.Time, note string, change ...string) {
		t.Helper()
		e := mended(t, stored, change...)
		if e.Status != job.StatusSucceeded || !e.StartedAt.Equal(startedAt) || !e.FinishedAt.Equal(finishedAt) {
			t.Errorf("%v: %s from %v to %v; want from %v to %v", change, e.Status, e.StartedAt, e.FinishedAt, startedAt, finishedAt)
		}
		if note == "" && e.Message != "" || !strings.Contains(e.Message, note) || e.DeliveredAt.After(e.StartedAt) {
			t.Errorf("%v: %q, delivered %v; want %q", change, e.Message, e.DeliveredAt, note)
		}
	}
	const start, end = `"started_at":"2026-01-05T00:00:00.008Z"`, `"finished_at":"2026-01-05T00:00:01Z"`
	started, finished := fired.Add(8*time.Millisecond), fired.Add(time.Second)
	f(started, finished, "")
	f(started, fired.Add(40*time.Second), "", end, `"finished_at":"2026-01-05T00:00:40Z"`) // clocks differ
	f(started, stored, "finished_at 2031-01-05T00:00:01Z is after", end, `"finished_at":"2031-01-05T00:00:01Z"`)
	f(started, started, "finished_at 2026-01-04T23:59:59Z is before started_at", end, `"finished_at":"2026-01-04T23:59:59Z"`)
	f(fired, finished, "started_at 1970-01-01T00:00:00Z is long before", start, `"started_at":"1970-01-01T00:00:00Z"`)
	f(stored, stored, "started_at 2027", start, `"started_at":"2027-01-05T00:00:00Z"`)
}

func TestWhatIsTooLongIsCutAndFailsNothing(t *testing.T) {
	long, err := json.Marshal(strings.Repeat("ä<", 50_000))
	if err != nil {
		t.Fatal(err)
	}
	e := mended(t, fired.Add(time.Second), `{"rows":7}`, string(long))
	var cut struct {
		Cut   bool
		Bytes int
		Start string
	}
	if err := json.Unmarshal(e.Result, &cut); err != nil || !cut.Cut || cut.Bytes < 100_000 || !strings.HasPrefix(cut.Start, `"ä`) || len(e.Result) > bus.MaxResult {
		t.Errorf("the result is %.60s of %d bytes, %v", e.Result, len(e.Result), err)
	}
	if e.Status != job.StatusSucceeded || !strings.Contains(e.Message, "only its beginning is kept") {
		t.Errorf("it is %s: %q", e.Status, e.Message)
	}
	e = mended(t, fired.Add(time.Second), `"log_lines":10`, `"log_lines":10,"message":"`+strings.Repeat("ä", 10_000)+`"`)
	if len(e.Message) > bus.MaxMessage || !strings.HasSuffix(e.Message, "ä…") || e.Status != job.StatusSucceeded {
		t.Errorf("%s, with %d bytes of message", e.Status, len(e.Message))
	}
}
