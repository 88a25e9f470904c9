package bus_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAnEndThatNATSWouldNotTakeIsMadeShorterAndSaysSo(t *testing.T) {
	ev := &bus.Event{
		Kind: bus.EventFinished, RunID: job.NewRunID(time.Now()), Job: "g/a", Version: 1, Attempt: 1, Status: job.StatusSucceeded,
		Message: strings.Repeat("m", 8<<10), Result: json.RawMessage(`"` + strings.Repeat("r", 30<<10) + `"`),
	}
	for most, isShort := range map[int64]bool{0: false, 1 << 20: false, 24 << 10: true} {
		m, err := ev.MsgWithin("token", most)
		if err != nil {
			t.Fatal(err)
		}
		got := string(m.Data)
		if strings.Contains(got, "rrr") == isShort || strings.Contains(got, "fit into the max_payload of NATS") != isShort {
			t.Errorf("within %d: %.300s", most, got)
		}
		if isShort && len(got) > int(most) {
			t.Errorf("within %d there are %d bytes", most, len(got))
		}
	}
	if len(ev.Result) == 0 {
		t.Error("the event itself was changed")
	}
}

func TestLinesThatNATSWouldNotTakeComeInSeveralMessages(t *testing.T) {
	at := time.Now().UTC().Truncate(time.Millisecond)
	batch := func(texts ...string) *bus.Log {
		l := &bus.Log{RunID: job.NewRunID(at), Job: "g/a", Attempt: 1}
		for i, text := range texts {
			l.Lines = append(l.Lines, bus.LogLine{Seq: int64(i) + 1, At: at, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: text})
		}
		return l
	}
	many := slices.Repeat([]string{strings.Repeat("x", 300)}, 200)
	for name, c := range map[string]struct {
		lines    []string
		most     int64
		messages int
		cut      bool
	}{
		"a NATS that is not known yet":          {many, 0, 1, false},
		"a large one":                           {many, 1 << 20, 1, false},
		"a small one":                           {many, 24 << 10, 4, false},
		"control characters, of six bytes each": {slices.Repeat([]string{strings.Repeat("\x01", 8<<10)}, 8), 8 << 20, 2, false},
		"a line for which it is too small":      {[]string{"a", strings.Repeat("ü", 10_000), "b"}, 16 << 10, 3, true},
		"characters that take six bytes":        {[]string{strings.Repeat("\x01", 20_000)}, 16 << 10, 1, true},
		"one that takes nothing":                {[]string{strings.Repeat("x", 1000)}, 1, 1, true},
	} {
		all, err := batch(c.lines...).MsgsWithin("token", c.most)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			if len(m.Data) > bus.MaxLogBatch || c.most > 1 && len(m.Data) > int(c.most)-(4<<10) {
				t.Errorf("%s: a message has %d bytes", name, len(m.Data))
			}
			var l bus.Log
			if err := json.Unmarshal(m.Data, &l); err != nil || m.Header.Get(bus.HeaderToken) != "token" {
				t.Errorf("%s: %v, %v", name, m.Header, err)
			}
			for _, line := range l.Lines {
				got = append(got, line.Text)
				if line.Seq != int64(len(got)) {
					t.Errorf("%s: line %d has number %d", name, len(got), line.Seq)
				}
			}
		}
		if len(all) != c.messages || len(got) != len(c.lines) {
			t.Errorf("%s: %d messages with %d lines, want %d with %d", name, len(all), len(got), c.messages, len(c.lines))
		}
		for i, text := range got {
			whole, isCut := c.lines[i], c.cut && len(c.lines[i]) > 1
			if start, found := strings.CutSuffix(text, "…"); found != isCut || !strings.HasPrefix(whole, start) || !isCut && text != whole {
				t.Errorf("%s: line %d has %d of %d bytes", name, i+1, len(text), len(whole))
			}
		}
	}
}
