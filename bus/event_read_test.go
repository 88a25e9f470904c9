package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// tokens are those of the cluster.
var tokens = bus.NewTokens()

// endEvent is a usual one: what most runs say.
func endEvent(tb testing.TB, change func(*bus.Event)) *nats.Msg {
	tb.Helper()
	const name job.Name = "billing/report"
	fire := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	e := bus.EventOf(&bus.Trigger{
		RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Shard: name.Shard(64), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire.Add(5 * time.Millisecond),
	}, bus.EventFinished, fire.Add(time.Second))
	e.Status, e.Instance, e.Delivery, e.FinishedAt, e.LogLines = job.StatusSucceeded, "worker-1", 1, e.At, 10
	e.DeliveredAt, e.StartedAt = fire.Add(7*time.Millisecond), fire.Add(8*time.Millisecond)
	change(e)
	m, err := message(tokens, e)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Events are read by hand where they are simple. With white space before them, package
// json reads them: both must say the same of any bytes.
func FuzzEventsAreReadAsPackageJSONReadsThem(f *testing.F) {
	usual := endEvent(f, func(*bus.Event) {})
	subject, text := usual.Subject, string(usual.Data)
	for _, m := range []*nats.Msg{
		usual,
		endEvent(f, func(e *bus.Event) {
			code := 143
			e.Status, e.ExitCode, e.Message = job.StatusFailed, &code, "no \"answer\"\n"
		}),
		endEvent(f, func(e *bus.Event) { e.Status, e.Retry, e.Message = job.StatusTimedOut, true, "took longer than 30s" }),
		endEvent(f, func(e *bus.Event) { e.Result, e.Index, e.Total = []byte(`{"rows":[1,2]}`), 3, 12 }),
		endEvent(f, func(e *bus.Event) { e.Kind, e.Percent, e.Text = bus.EventProgress, 12.5, "halb geschäfft" }),
		endEvent(f, func(e *bus.Event) { e.Kind, e.RouteReason = bus.EventStarted, "busy" }),
	} {
		f.Add(m.Data)
	}
	for _, change := range [][2]string{
		{`"version":3`, `"version":03`},
		{`"version":3`, `"version":-3`},
		{`"version":3`, `"version":3.0`},
		{`"version":3`, `"version":3e2`},
		{`"version":3`, `"version":99999999999999999999`},
		{`"version":3`, `"version":1234567890`},
		{`"version":3`, `"version":null`},
		{`"version":3`, `"version":"3"`},
		{`"version":3`, `"version": 3`},
		{`"version":3`, `"Version":3`},
		{`"version":3`, `"version":3,"version":4`},
		{`"version":3`, `"version":3,"new":{"a":[1]}`},
		{`"version":3`, `"version":3,`},
		{`}`, `}}`},
		{`}`, `} `},
		{`}`, ``},
		{`worker-1`, `worker\u002d1`},
		{`worker-1`, "worker\t1"},
		{`worker-1`, "worker\xff1"},
		{`worker-1`, `wörker`},
		{`01.000Z`, `01Z`},
		{`00:00:01Z`, `00:00:01.123456789Z`},
		{`00:00:01Z`, `00:00:01.1234567891Z`},
		{`00:00:01Z`, `00:00:01.Z`},
		{`00:00:01Z`, `00:00:60Z`},
		{`00:00:01Z`, `24:00:01Z`},
		{`00:00:01Z`, `00:00:01+00:00`},
		{`00:00:01Z`, `00:00:01,5Z`},
		{`01-05T00:00:01Z`, `02-30T00:00:01Z`},
		{`01-05T00:00:01Z`, `13-05T00:00:01Z`},
		{`01-05T00:00:01Z`, `0a-05T00:00:01Z`},
	} {
		f.Add([]byte(strings.Replace(text, change[0], change[1], 1)))
	}
	stored := time.Date(2026, 1, 5, 0, 1, 0, 0, time.UTC)
	decode := func(data []byte) (*bus.Event, error) {
		return tokens.DecodeEvent(subject, vouched(bus.MessageEvent, data), data, stored, 64)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, gotErr := decode(data)
		want, wantErr := decode(append([]byte(" "), data...))
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Fatalf("of %s the error is %v; want %v", data, gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", data, diff)
		}
	})
}

func BenchmarkDecodeEvent(b *testing.B) {
	m := endEvent(b, func(*bus.Event) {})
	for name, data := range map[string][]byte{"by hand": m.Data, "by package json": append([]byte(" "), m.Data...)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokens.DecodeEvent(m.Subject, m.Header, data, time.Now(), 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
