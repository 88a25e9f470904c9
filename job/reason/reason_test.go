package reason_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// samples are values of each kind, of which each sentence must come back as it was.
var samples = map[reason.Kind][]string{
	reason.Number: {"1", "2", "0"}, reason.Duration: {"1h30m", "1.5s", "250ms"}, reason.Instant: {"2026-03-01T02:00:00Z", "2026-03-01T02:00:00.125Z"},
	reason.Word: {"billing/nightly", "ann@example.org"}, reason.Status: {"failed", "timed_out", "lost"}, reason.State: {"failed", "caught_up"}, reason.Phrase: {"gpu=1,zone=a", "a b"},
	reason.Weekday: {"Saturday", "Wednesday"}, reason.Month: {"March", "May"},
	reason.Free: {"disk full; and more", "two\nlines"},
}

func sampleOf(s *reason.Sentence, i int) map[string]string {
	var params map[string]string
	for _, p := range s.Params {
		if params == nil {
			params = map[string]string{}
		}
		params[p.Name] = samples[p.Kind][i%len(samples[p.Kind])]
	}
	return params
}

func TestEachSentenceIsReadAsItIsWritten(t *testing.T) {
	codes := map[string]bool{}
	for _, s := range reason.Sentences() {
		if codes[s.Code] {
			t.Errorf("code %s is there twice", s.Code)
		}
		codes[s.Code] = true
		for i := range 3 {
			params := sampleOf(s, i)
			want := reason.Said{Text: s.Say(params), Code: s.Code, Params: params}
			got := reason.Read(want.Text)
			if s.Follows {
				if got.Code != "" {
					t.Errorf("%s stands alone", s.Code)
				}
				got = *reason.Read(reason.Join(reason.JobPaused.String(), want.Text)).And
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.Code, diff)
			}
		}
	}
}

func TestReasonsAreJoinedInTheirOrder(t *testing.T) {
	all := reason.Sentences()
	for i, s := range all {
		last := s.Params != nil && s.Params[len(s.Params)-1].Kind == reason.Free
		if last || s.Follows { // whose text goes on to the end
			continue
		}
		next := all[(i+7)%len(all)]
		a, b := s.Say(sampleOf(s, 1)), next.Say(sampleOf(next, 0))
		got := reason.Read(reason.Join(a, "", b))
		if got.Code != s.Code || got.And == nil || got.And.Code != next.Code || got.And.Text != b {
			t.Errorf("%s and %s are read as %+v", s.Code, next.Code, got)
		}
	}
}

func TestTextOfOthersHasNoCode(t *testing.T) {
	for _, text := range []string{"", "disk full", "panic: runtime error", "the job", "2 runs", "2 failed states were found", "exit code 3 of the tool", "3 failed", "the database is gone", "mysql is gone"} {
		if got := reason.Read(text); got.Code != "" || got.Text != text {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	got := reason.Read(reason.Join(reason.TimedOut.With("5s"), "disk full"))
	if got.Code != "timed_out" || got.And == nil || got.And.Code != "" || got.And.Text != "disk full" {
		t.Errorf("a handler's words after ours are read as %+v", got)
	}
}

func TestTheJSONOfATextHasItsCode(t *testing.T) {
	text := reason.Text(reason.OverlapFull.With(2))
	data, err := json.Marshal(text)
	if want := `{"text":"overlap limit reached: 2 runs are still alive","code":"overlap_full","params":{"runs":"2"}}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
	for _, from := range []string{string(data), `"overlap limit reached: 2 runs are still alive"`} {
		var back reason.Text
		if err := json.Unmarshal([]byte(from), &back); err != nil || back != text {
			t.Errorf("%s is read as %q, %v", from, back, err)
		}
	}
}
