package bus_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const packs = "evt.p0.billing"

// endOf returns the end of the n-th run of a job, and the same as a message of its own.
func endOf(tb testing.TB, n int, change func(*bus.Event)) (*bus.End, *nats.Msg) {
	tb.Helper()
	var e *bus.Event
	single := endEvent(tb, func(ev *bus.Event) {
		ev.FireTime = ev.FireTime.Add(time.Duration(n) * time.Second)
		ev.RunID = job.FireRunID(ev.Job, ev.FireTime.UnixMilli(), job.CauseSchedule)
		change(ev)
		e = ev
	})
	end, err := bus.NewEnd(e, single.Header.Get(bus.HeaderToken))
	if err != nil {
		tb.Fatal(err)
	}
	return end, single
}

func same(*bus.Event) {}

// packed returns the one message that has all the ends.
func packed(tb testing.TB, ends ...*bus.End) *nats.Msg {
	tb.Helper()
	m, n, err := bus.PackEnds(packs, "worker-1", ends, 0)
	if err != nil || n != len(ends) {
		tb.Fatalf("%d of %d ends are in the pack: %v", n, len(ends), err)
	}
	return m
}

// said is an event as one reader gets it, or why not.
type said struct {
	Event *bus.Event
	Err   string
}

func readAll(subject string, header nats.Header, data []byte) (all []said) {
	stored := time.Date(2026, 1, 5, 0, 1, 0, 0, time.UTC)
	for e, err := range tokens.DecodeEvents(subject, header, data, stored, 1, 64) {
		s := said{Event: e}
		if err != nil {
			s.Err = err.Error()
		}
		all = append(all, s)
	}
	return all
}

func TestAPackSaysWhatItsEndsSayAlone(t *testing.T) {
	var ends []*bus.End
	var want []said
	for n, change := range []func(*bus.Event){
		same,
		func(e *bus.Event) {
			code := 143
			e.Status, e.ExitCode, e.Message = job.StatusFailed, &code, "no \"answer\"\nat all"
		},
		func(e *bus.Event) { e.Result = []byte(`{"rows": [1, 2]}`) },
		func(e *bus.Event) { e.Status = "promoted" }, // which is mended
		func(e *bus.Event) { e.FinishedAt = e.FinishedAt.Add(time.Hour) },
	} {
		end, single := endOf(t, n, change)
		ends = append(ends, end)
		want = append(want, readAll(single.Subject, single.Header, single.Data)...)
	}
	m := packed(t, ends...)
	if got := m.Header.Get(bus.HeaderMessage); got != "events.v1" || m.Header.Get(bus.HeaderToken) != "" {
		t.Errorf("the headers are %v", m.Header)
	}
	if diff := cmp.Diff(want, readAll(m.Subject, m.Header, m.Data)); diff != "" {
		t.Errorf("the pack differs from its ends (-alone +packed):\n%s", diff)
	}
	if again := packed(t, ends...); again.Header.Get(nats.MsgIdHdr) == m.Header.Get(nats.MsgIdHdr) {
		t.Error("two packs have one id")
	}
}

// Executors in other languages are written by this file.
func TestAPackIsWhatItsGoldenFileSays(t *testing.T) {
	var ends []*bus.End
	for n, token := range []string{"0f3a91c2.mYx0c5S1bq3v8o2LZrNw4A", "0f3a91c2.pQ7tBB0aW9xk2nLr5sVd1g.r"} {
		e := event(bus.EventFinished)
		e.RunID = job.FireRunID(e.Job, noon.Add(time.Duration(n)*time.Minute).UnixMilli(), job.CauseSchedule)
		end, err := bus.NewEnd(e, token)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	const file = "testdata/ends.txt"
	got := string(packed(t, ends...).Data) + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestOneEndIsAMessageOfItsOwn(t *testing.T) {
	end, want := endOf(t, 0, same)
	m, n, err := bus.PackEnds(packs, "worker-1", []*bus.End{end}, 0)
	if err != nil || n != 1 {
		t.Fatalf("%d ends: %v", n, err)
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("it differs (-want +got):\n%s", diff)
	}
}

func TestAPackHasBounds(t *testing.T) {
	small, _ := endOf(t, 0, same)
	large, _ := endOf(t, 1, func(e *bus.Event) { e.Message = strings.Repeat("m", 8<<10) })
	huge, _ := endOf(t, 2, func(e *bus.Event) { e.Result = []byte(`"` + strings.Repeat("r", 40<<10) + `"`) })
	repeat := func(e *bus.End, n int) (all []*bus.End) {
		for range n {
			all = append(all, e)
		}
		return all
	}
	for name, c := range map[string]struct {
		ends       []*bus.End
		maxPayload int64
		want       int
	}{
		"by number":                  {repeat(small, 300), 0, bus.MaxEnds},
		"by size":                    {repeat(large, 100), 0, 30},
		"by what NATS takes":         {repeat(large, 100), 64 << 10, 7},
		"before a large end":         {[]*bus.End{small, small, huge, small}, 0, 2},
		"a large end goes by itself": {[]*bus.End{huge, small}, 0, 1},
	} {
		m, n, err := bus.PackEnds(packs, "worker-1", c.ends, c.maxPayload)
		if err != nil || n != c.want || len(m.Data) > bus.MaxEndsSize {
			t.Errorf("%s: %d ends in %d bytes, %v; want %d", name, n, len(m.Data), err, c.want)
		}
		if c.maxPayload > 0 && len(m.Data) > int(c.maxPayload) {
			t.Errorf("%s: it has %d bytes", name, len(m.Data))
		}
	}
}

func TestWhatIsWrongWithAPackIsSaid(t *testing.T) {
	one, _ := endOf(t, 0, same)
	two, _ := endOf(t, 1, same)
	m := packed(t, one, two)
	text := string(m.Data)
	for name, c := range map[string]struct {
		subject, data string
		want          []string // of each that is yielded a part of its error; "": it is read
	}{
		"as it is":                     {packs, text, []string{"", ""}},
		"a line is cut":                {packs, text[:len(text)-9], []string{"", "unexpected"}},
		"a token is another's":         {packs, strings.Replace(text, `"attempt":1`, `"attempt":2`, 1), []string{bus.HeaderToken, ""}},
		"there is no token":            {packs, strings.Replace(text, `"token"`, `"tok"`, 1), []string{bus.HeaderToken, ""}},
		"not an end":                   {packs, strings.Replace(text, `"kind":"finished"`, `"kind":"started"`, 1), []string{"kind", ""}},
		"a line is missing":            {packs, strings.Replace(text, `"ends":2`, `"ends":3`, 1), []string{"ends"}},
		"none":                         {packs, `{"instance":"worker-1","ends":0}`, []string{"ends"}},
		"too many":                     {packs, `{"instance":"worker-1","ends":257}` + strings.Repeat("\n{}", 257), []string{"ends"}},
		"too long":                     {packs, text + strings.Repeat(" ", bus.MaxEndsSize), []string{"ends"}},
		"no first line":                {packs, text[strings.Index(text, "\n")+1:], []string{"ends"}},
		"nothing":                      {packs, "", []string{"ends"}},
		"the subject of a shard":       {"evt.1.billing", text, []string{"subject"}},
		"the subject of another group": {"evt.p0.payroll", text, []string{"job", "job"}},
		"of another partition":         {"evt.p1.billing", text, []string{"shard", "shard"}},
	} {
		got := readAll(c.subject, m.Header, []byte(c.data))
		if len(got) != len(c.want) {
			t.Errorf("%s: %d are yielded, want %d: %v", name, len(got), len(c.want), got)
			continue
		}
		for i, s := range got {
			if s.Event == nil != (c.want[i] != "") || !strings.Contains(s.Err, c.want[i]) {
				t.Errorf("%s: line %d: %v, %q; want %q", name, i, s.Event, s.Err, c.want[i])
			}
		}
	}
}

func TestALetterOfAPackIsTheEndWithoutItsToken(t *testing.T) {
	one, _ := endOf(t, 0, same)
	two, single := endOf(t, 1, same)
	m := packed(t, one, two)
	secret := single.Header.Get(bus.HeaderToken)
	letter := bus.Letter(m, 1, 64)
	if letter.Subject != single.Subject || letter.Header.Get(bus.HeaderMessage) != bus.MessageEvent || strings.Contains(string(letter.Data), secret) {
		t.Errorf("the letter is %s %v %s", letter.Subject, letter.Header, letter.Data)
	}
	tokens.Vouch(letter, noon) // as it is replayed
	want := readAll(single.Subject, single.Header, single.Data)
	if diff := cmp.Diff(want, readAll(letter.Subject, letter.Header, letter.Data)); diff != "" {
		t.Errorf("replayed it says (-want +got):\n%s", diff)
	}
	m.Data = m.Data[strings.Index(string(m.Data), "\n")+1:] // as a whole it is no pack
	if whole := bus.Letter(m, 0, 64); whole.Subject != packs || strings.Contains(string(whole.Data), secret) || !strings.Contains(string(whole.Data), "billing/report") {
		t.Errorf("of what is no pack: %s %s", whole.Subject, whole.Data)
	}
}

func TestATriggerSaysWhereItsEndMayGo(t *testing.T) {
	tr := trigger()
	tr.Report = "evt.p3.billing"
	text, err := tr.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := bus.DecodeTriggerFor("billing", nil, bus.AppendTrigger(nil, tr, text))
	if err != nil || got.Report != tr.Report {
		t.Errorf("it says %+v, %v", got, err)
	}
	for _, bad := range []string{"evt.p3.payroll", "evt.3.billing", "evt.p16.billing", "evt.p-1.billing", "trig.1.any.billing"} {
		tr.Report = bad
		var invalid *job.InvalidError
		if _, err := bus.DecodeTriggerFor("billing", nil, bus.AppendTrigger(nil, tr, text)); !errors.As(err, &invalid) || invalid.Field != "report" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Whatever a line has, a pack says the same of it as the event that it is does.
func FuzzAPackSaysWhatItsEndsSay(f *testing.F) {
	end, single := endOf(f, 0, same)
	m := packed(f, end, end)
	token := single.Header.Get(bus.HeaderToken)
	for _, change := range [][2]string{{"", ""}, {`"version":3`, `"version":3.0`}, {`worker-1`, "wörker\t"}, {`}`, ``}, {`"log_lines":10`, `"log_lines":NaN`}, {`succeeded`, `held`}} {
		f.Add(strings.TrimPrefix(strings.Replace(string(single.Data), change[0], change[1], 1), "{"))
	}
	f.Fuzz(func(t *testing.T, fields string) {
		if strings.Contains(fields, "\n") || strings.Contains(fields, `token`) || !strings.Contains(fields, `"kind":"finished"`) || strings.Contains(fields, "KIND") {
			return
		}
		pack := fmt.Sprintf("{\"instance\":\"worker-1\",\"ends\":1}\n{\"token\":%q,%s", token, fields)
		want := readAll(single.Subject, single.Header, []byte("{"+fields))
		got := readAll(packs, m.Header, []byte(pack))
		if len(got) != 1 || len(want) != 1 || (got[0].Event == nil) != (want[0].Event == nil) {
			t.Fatalf("of %s alone %v, packed %v", fields, want, got)
		}
		if diff := cmp.Diff(want[0].Event, got[0].Event); diff != "" {
			t.Errorf("%s differs (-alone +packed):\n%s", fields, diff)
		}
	})
}

// What is about another run is left out unread. What may be about one that is looked for never is, however
// its sender writes JSON.
func TestEndsOfOtherRunsAreLeftOut(t *testing.T) {
	var mine job.RunID
	end, _ := endOf(t, 1, func(e *bus.Event) { mine = e.RunID })
	others, _ := endOf(t, 2, same)
	m := packed(t, others, end, others)
	about := func(data []byte) (n int) {
		for got, err := range tokens.DecodeAbout(packs, m.Header, data, time.Now(), 1, 64, func(run []byte) bool { return job.RunID(run) == mine }) {
			if err != nil || got.RunID != mine {
				t.Errorf("%v, %v", got, err)
			}
			n++
		}
		return n
	}
	if n := about(m.Data); n != 1 {
		t.Errorf("%d ends are about the run, want 1", n)
	}
	id := fmt.Sprintf(`"run_id":%q`, mine)
	for _, same := range []string{
		fmt.Sprintf(`"run_id":  %q`, mine), fmt.Sprintf(`"run_id" : %q`, mine), fmt.Sprintf(`"run\u005fid":%q`, mine), `"run_id":"\u0030` + string(mine[1:]) + `"`,
		`"result":{"run_id":"019b8be1-f500-746c-9285-f6b4613a1707"},` + id,
	} {
		if n := about(bytes.Replace(m.Data, []byte(id), []byte(same), 1)); n != 1 {
			t.Errorf("%d ends are about the run that is written %s, want 1", n, same)
		}
	}
}

func BenchmarkDecodeEnds(b *testing.B) {
	var ends []*bus.End
	for n := range 50 {
		end, _ := endOf(b, n, same)
		ends = append(ends, end)
	}
	m := packed(b, ends...)
	for name, all := range map[string]bool{"of all runs": true, "of other runs": false} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range tokens.DecodeAbout(m.Subject, m.Header, m.Data, time.Now(), 1, 64, func([]byte) bool { return all }) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(ends))/b.Elapsed().Seconds(), "ends/s")
		})
	}
}
