package ping

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const backup job.Name = "ops/backup"

func TestAPingSaysWhatItsPathItsValuesAndItsBodySay(t *testing.T) {
	minute, code := job.Duration(time.Minute), func(n int) *int { return &n }
	for name, c := range map[string]struct {
		what   string
		values map[string]string
		body   string
		want   bus.Ping
	}{
		"nothing": {"", nil, "", bus.Ping{Kind: bus.PingEnd}},
		"end":     {"end", nil, "", bus.Ping{Kind: bus.PingEnd}},
		"start":   {"start", map[string]string{"run": "a.B-c_1"}, "", bus.Ping{Kind: bus.PingStart, Key: "a.B-c_1"}},
		"fail":    {"fail", map[string]string{"message": "disk full"}, "", bus.Ping{Kind: bus.PingEnd, Failed: true, Message: "disk full"}},
		"code":    {"137", nil, "killed\n", bus.Ping{Kind: bus.PingEnd, ExitCode: code(137), Output: "killed\n"}},
		"zero":    {"0", nil, "", bus.Ping{Kind: bus.PingEnd, ExitCode: code(0)}},
		"values": {"", map[string]string{"age": "60", "took": "0.25", "exit": "255", "host": "web1", "offset": "-210", "id": "x"}, "", bus.Ping{
			Kind: bus.PingEnd, Age: minute, Took: job.Duration(250 * time.Millisecond), ExitCode: code(255), Host: "web1", UTCOffset: code(-210),
		}},
		"old":            {"", map[string]string{"age": "99999999999999999999"}, "", bus.Ping{Kind: bus.PingEnd, Age: job.Duration(bus.MaxPingAge)}},
		"long for years": {"", map[string]string{"took": "1e300"}, "", bus.Ping{Kind: bus.PingEnd, Took: job.Duration(maxSeconds * time.Second)}},
		"empty":          {"", map[string]string{"run": "", "age": "", "exit": "", "took": "", "offset": ""}, "", bus.Ping{Kind: bus.PingEnd}},
		"no UTF-8":       {"", map[string]string{"host": "w\xff"}, "a\xff\x00b", bus.Ping{Kind: bus.PingEnd, Host: "w\uFFFD", Output: "a\uFFFD\x00b"}},
	} {
		m := &Message{What: c.what, Values: c.values, Body: []byte(c.body)}
		got, repeat, ignored, err := m.read(backup)
		if err != nil || len(ignored) > 0 || repeat != c.values["id"] {
			t.Errorf("%s: %v, ignored %v, repeat %q", name, err, ignored, repeat)
			continue
		}
		c.want.ID, c.want.Job = got.ID, backup
		if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A misspelt extra must not make a run missed.
func TestWhatAPingSaysBesidesAndCannotBeReadIsPassedOverAndNamed(t *testing.T) {
	for name, values := range map[string]map[string]string{
		"unknown": {"hots": "web1", "exitcode": "1"}, "key": {"run": "a b"}, "long key": {"run": strings.Repeat("a", 65)}, "age": {"age": "soon"},
		"NaN": {"age": "NaN", "took": "nan"}, "took": {"took": "-1"}, "offset": {"offset": "1081"}, "no number": {"offset": "UTC"},
	} {
		m := &Message{Values: values}
		got, _, ignored, err := m.read(backup)
		slices.Sort(ignored)
		if want := slices.Sorted(maps.Keys(values)); err != nil || !slices.Equal(ignored, want) {
			t.Errorf("%s: ignored %v, want %v, %v", name, ignored, want, err)
			continue
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := &Message{What: "start", Values: map[string]string{"took": "1", "message": "x"}, Body: []byte("x")}
	if got, _, ignored, err := m.read(backup); err != nil || !slices.Equal(ignored, []string{"took", "message", "body"}) || got.Output != "" || got.Took != 0 {
		t.Errorf("a start with what only ends have: %+v, %v, %v", got, ignored, err)
	}
	many := map[string]string{}
	for i := range 100 {
		many[strings.Repeat("x", i+1)] = "1"
	}
	if _, _, ignored, _ := (&Message{Values: many}).read(backup); len(ignored) != maxIgnored || len(ignored[0]) > 70 {
		t.Errorf("%d names", len(ignored))
	}
}

func TestAnExitCodeOrAnAgeThatCannotBeIsRefused(t *testing.T) {
	for field, messages := range map[string][]Message{
		"exit": {{What: "256"}, {What: "-1"}, {What: "begin"}, {What: "log"}, {What: "start/x"}, {Values: map[string]string{"exit": "one"}}, {Values: map[string]string{"exit": "256"}}},
		"age":  {{Values: map[string]string{"age": "-0.001"}}},
	} {
		for _, m := range messages {
			_, _, _, err := m.read(backup)
			var invalid *job.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%q %v: %v", m.What, m.Values, err)
			}
		}
	}
}

func TestOfALongOutputTheBeginningAndTheEndAreKept(t *testing.T) {
	for name, text := range map[string]string{
		"ASCII": strings.Repeat("0123456789", 20_000), "runes": strings.Repeat("käse", 50_000), "three bytes": strings.Repeat("漢", 30_000), "a byte too long": strings.Repeat("x", bus.MaxPingOutput+1),
		"broken": strings.Repeat("\xffa", MaxBody/2),
	} {
		m := &Message{Body: []byte(text)}
		kept, cut := m.output()
		text = valid(text)
		begin, rest, found := strings.Cut(kept, "\n[")
		_, end, _ := strings.Cut(rest, " bytes were cut]\n")
		if !found || len(kept) > bus.MaxPingOutput || len(kept) < bus.MaxPingOutput-16 || !utf8.ValidString(kept) {
			t.Errorf("%s: %d bytes are kept", name, len(kept))
		}
		if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) || len(begin)+cut+len(end) != len(text) || len(begin) < keptHead-3 {
			t.Errorf("%s: %d and %d bytes of %d are kept, and %d cut", name, len(begin), len(end), len(text), cut)
		}
	}
	whole := strings.Repeat("x", bus.MaxPingOutput)
	if kept, cut := (&Message{Body: []byte(whole)}).output(); kept != whole || cut != 0 {
		t.Errorf("%d bytes are cut of what fits", cut)
	}
	if kept, cut := (&Message{Body: []byte("abc"), Encoding: "gzip"}).output(); !strings.Contains(kept, `3 bytes with Content-Encoding "gzip"`) || cut != 3 {
		t.Errorf("compressed: %q %d", kept, cut)
	}
	if kept, cut := (&Message{Unread: true}).output(); !strings.Contains(kept, "more than 1048576 bytes") || cut != MaxBody {
		t.Errorf("unread: %q %d", kept, cut)
	}
	p, _, _, err := (&Message{Values: map[string]string{"message": strings.Repeat("漢", 400), "host": strings.Repeat("x", 300)}}).read(backup)
	if err == nil {
		err = p.Check()
	}
	if err != nil || len(p.Message) < 1000 || len(p.Host) < 250 {
		t.Errorf("long texts: %d and %d bytes, %v", len(p.Message), len(p.Host), err)
	}
}

func TestPostStandsForPutAndEmptyForAllMethods(t *testing.T) {
	for method, want := range map[string][2]bool{"GET": {true, false}, "HEAD": {true, false}, "POST": {true, true}, "PUT": {true, true}, "DELETE": {false, false}, "OPTIONS": {false, false}} {
		m := &Message{Method: method}
		_, all := m.allowedBy(nil)
		names, post := m.allowedBy([]string{"POST"})
		if all != want[0] || post != want[1] || !slices.Equal(names, []string{"POST", "PUT"}) {
			t.Errorf("%s: %v %v %v", method, all, post, names)
		}
	}
}
