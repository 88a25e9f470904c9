package shard

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

var update = flag.Bool("update", false, "rewrite the timelines with what happens now")

// Each file of testdata/timeline is a script, a line "----", and what happened. The
// words of a script are the cases of tale.do.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/timeline/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no timelines: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(data), "----\n")
			got := tell(t, script)
			if *update {
				if err := os.WriteFile(file, []byte(script+"----\n"+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what happened differs from the file (-file +now):\n%s", diff)
			}
		})
	}
}

// tale is a script on its way.
type tale struct {
	t       *testing.T
	out     strings.Builder
	clock   int64
	trig    *stream
	changes []any
	newest  map[job.Name]*job.Version
	m       *Machine
	former  *Machine
	epoch   uint64
	room    int
	live    []*bus.Trigger
	events  []storedEvent
}

func tell(t *testing.T, script string) string {
	t.Helper()
	s := &tale{t: t, newest: map[job.Name]*job.Version{}, room: bus.MaxBatch}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		fmt.Fprintf(&s.out, "> %s\n", line)
		s.do(verb, rest)
	}
	return s.out.String()
}

func (s *tale) do(verb, rest string) {
	s.t.Helper()
	switch verb {
	case "clock": // where the story begins
		at, err := time.Parse(time.RFC3339, rest)
		s.must(err)
		s.clock = at.UnixMilli()
		s.trig = newStream(&journal.Cursor{Shard: simShard, Done: instant(s.clock), JobsSeq: uint64(len(s.changes))})
		s.takeOver()
	case "put": // save a job; its owner hears at once
		s.put(rest)
	case "herd": // save many like it: herd 2500 {"job":"g/job-%d", …}
		number, document, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		s.must(err)
		for i := range n {
			s.put(strings.ReplaceAll(document, "%d", strconv.Itoa(i)))
		}
	case "late": // save a job; its owner hears so long after, and has stepped: late 1s {"job":…}
		lag, document, _ := strings.Cut(rest, " ")
		unaware := s.m
		s.m = nil
		s.put(document)
		s.m = unaware
		s.clock += s.duration(lag)
		s.step()
		s.hear(len(s.changes) - 1)
	case "delete":
		v := *s.newest[job.Name(rest)]
		v.Deleted = true
		s.save(&v)
	case "pause", "resume": // everything
		s.change(hold{Pause: job.Pause{Paused: verb == "pause", EffectiveFrom: instant(s.clock)}})
	case "skip", "early": // a fire: skip g/a 2026-01-05T12:03:00Z; early has it run now
		name, at, _ := strings.Cut(rest, " ")
		fire, err := time.Parse(time.RFC3339, at)
		s.must(err)
		skip := job.Skip{FireTime: fire, By: "ada", At: instant(s.clock)}
		if verb == "early" {
			skip.RunID = job.FireRunID(job.Name(name), s.clock, job.CauseManual)
		}
		v := *s.newest[job.Name(name)]
		v.Skip(skip)
		s.save(&v)
	case "run": // the owner works for so long
		s.run(s.clock + s.duration(rest))
	case "down": // nobody does
		s.clock += s.duration(rest)
	case "takeover":
		s.former, s.m = s.m, nil
		s.takeOver()
	case "former": // the owner before wakes up
		b := s.former.Step(s.clock, s.room)
		if b == nil {
			s.say("the former owner has nothing to do")
			return
		}
		s.publish(s.former, b)
	case "room": // in a batch
		n, err := strconv.Atoi(rest)
		s.must(err)
		s.room = n
	case "step": // once
		s.step()
	case "finish": // all live runs end
		for _, r := range s.live {
			e := bus.EventOf(r, bus.EventFinished, instant(s.clock))
			e.Status = job.StatusSucceeded
			s.events = append(s.events, storedEvent{event: e, at: s.clock})
			s.hearEvent(len(s.events) - 1)
		}
		s.live = nil
	case "ping": // about a job: ping g/a start run=key age=1m took=5m; or end, fail, or an exit code
		s.ping(rest)
	case "ask": // for a run: ask g/a, or ask g/a {"customer":"ann"}
		name, params, _ := strings.Cut(rest, " ")
		id := job.FireRunID(job.Name(name), s.clock, job.CauseManual)
		_, err := s.m.Requests.Submit(bus.TriggerRequest{RunID: id, Job: job.Name(name), Cause: job.CauseManual, By: "ada", Params: json.RawMessage(params)})
		s.must(err)
		s.step()
	default:
		s.t.Fatalf("unknown word %q", verb)
	}
}

func (s *tale) ping(rest string) {
	words := strings.Fields(rest)
	p := &bus.Ping{ID: fmt.Sprintf("%016x", len(s.events)+1), Job: job.Name(words[0]), Kind: bus.PingEnd, Host: "web1"}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "start":
			p.Kind = bus.PingStart
		case "end":
		case "fail":
			p.Failed = true
		case "output":
			p.Output = value
		case "offset": // minutes from UTC
			minutes, err := strconv.Atoi(value)
			s.must(err)
			p.UTCOffset = &minutes
		case "run":
			p.Key = value
		case "age":
			p.Age = job.Duration(time.Duration(s.duration(value)) * time.Millisecond)
		case "took":
			p.Took = job.Duration(time.Duration(s.duration(value)) * time.Millisecond)
		default:
			code, err := strconv.Atoi(name)
			s.must(err)
			p.ExitCode = &code
		}
	}
	s.must(p.Check())
	s.events = append(s.events, storedEvent{ping: p, at: s.clock})
	s.hearEvent(len(s.events) - 1)
	s.step()
}

// hearEvent tells the owner of event i.
func (s *tale) hearEvent(i int) {
	if s.m == nil {
		return
	}
	if e := s.events[i]; e.ping != nil {
		s.m.Ping(e.ping, uint64(i+1), e.at)
	} else {
		s.m.Event(e.event, uint64(i+1), e.at)
	}
}

func (s *tale) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *tale) duration(text string) int64 {
	d, err := job.ParseDuration(text)
	s.must(err)
	return d.Milliseconds()
}

func (s *tale) put(document string) {
	j, err := job.Decode([]byte(document))
	s.must(err)
	s.save(&job.Version{Job: j})
}

func (s *tale) save(v *job.Version) {
	v.Version, v.EffectiveFrom = 1, instant(s.clock)
	if was := s.newest[v.Job.Job]; was != nil {
		v.Version = was.Version + 1
		if v.Skips == nil {
			v.Skips = was.Skips
		}
	}
	v.ForgetSkips()
	s.newest[v.Job.Job] = v
	s.change(v)
}

func (s *tale) change(c any) {
	s.changes = append(s.changes, c)
	if s.m != nil {
		s.hear(len(s.changes) - 1)
	}
}

// hear tells the owner of change i.
func (s *tale) hear(i int) {
	switch c := s.changes[i].(type) {
	case *job.Version:
		s.must(s.m.PutVersion(c, revision(i)))
	case hold:
		s.m.Cluster.PutHold(c.group, c.Pause)
	}
}

func (s *tale) takeOver() {
	s.epoch++
	s.m = New(Config{Tokens: tokens, Shard: simShard, Shards: simShards, Epoch: s.epoch, Node: "n" + strconv.FormatUint(s.epoch, 10), Planner: &job.Planner{}}, s.trig.cursor, s.trig.cursorSeq)
	s.publish(s.m, s.m.Claim(s.clock))
	for i := range s.changes {
		s.hear(i)
	}
	var seqs []uint64
	for seq := range s.trig.deferred {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		s.must(s.m.PutDeferred(s.trig.deferred[seq], seq))
	}
	for i := range s.events {
		s.hearEvent(i)
	}
}

// run steps whenever the machine asks for it.
func (s *tale) run(until int64) {
	for {
		at, _ := s.m.NextAt(s.m.sweep.done)
		if at > until {
			break
		}
		s.clock = max(s.clock, at)
		s.step()
	}
	s.clock = until
}

func (s *tale) step() {
	if b := s.m.Step(s.clock, s.room); b != nil {
		s.publish(s.m, b)
	}
}

func (s *tale) publish(m *Machine, b *Batch) {
	stored := s.trig.publish(b.Messages)
	if stored == nil {
		s.say("commit %s of %d messages refused: the shard has another owner", b.Commit, len(b.Messages))
		return
	}
	m.Committed(stored.first)
	deleted := map[uint64]bool{}
	for _, seq := range m.Released() {
		s.trig.remove(seq)
		deleted[seq] = true
	}
	m.Deleted(deleted)
	if stored.record == nil && len(stored.deferred) == 0 && m.cursor.commits > 1 {
		return // an idle cursor
	}
	position := "all done up to " + instant(stored.cursor.Done.UnixMilli()).Format("15:04:05.000")
	if w := stored.cursor.Sweep; w != nil {
		position += fmt.Sprintf(", and up to %s for jobs up to %s", instant(w.To.UnixMilli()).Format("15:04:05.000"), w.After)
	}
	s.say("commit %s of %d messages: %s", b.Commit, len(b.Messages), position)
	s.live = append(s.live, stored.triggers...)
	for _, d := range stored.deferred {
		switch d.Kind { //nolint:exhaustive // timelines have no others
		case journal.DeferredEnd:
			s.note("%s waits for the end of %s", d.Job, short(d.RunID))
		case journal.DeferredAsked:
			s.note("remembers for a while what was asked for: %d", len(d.Asked))
		case journal.DeferredExpected:
			s.note("%s is expected until %s", d.Job, d.Due.Format("15:04:05"))
		case journal.DeferredHeard:
			s.note("%s has been heard%s", d.Job, or(", after ", d.Since)+or(", and was unreported at ", d.Due))
		case journal.DeferredEarly:
			s.note("%s has a ping for %s", d.Job, d.Due.Format("15:04:05"))
		default:
			s.note("%s waits since %s", d.Job, d.Since.Format("15:04:05.000"))
		}
	}
	if stored.record != nil {
		for _, o := range stored.record.Outcomes {
			s.outcome(o)
		}
	}
}

func (s *tale) outcome(o journal.Outcome) {
	text := fmt.Sprintf("%s (%s) %s", o.Status, o.Cause, o.FireTime.Format("Mon 15:04:05"))
	if o.Count > 1 {
		text += fmt.Sprintf(" to %s, %d fires", o.Until.Format("Mon 15:04:05"), o.Count)
	}
	if n := len(o.Jobs); n > 3 {
		text += fmt.Sprintf(": %d jobs, %s to %s", n, o.Jobs[0], o.Jobs[n-1])
	} else {
		text += ": " + strings.Join(o.Jobs, " ")
	}
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	if o.By != "" {
		text += ": asked by " + o.By
	}
	if p := o.Ping; p != nil {
		text += " (ping " + strings.TrimLeft(p.ID, "0") + or(", began ", p.StartedAt) + or(", ended ", p.FinishedAt) + ")"
		if p.Output != "" || p.OutputCut > 0 {
			text += fmt.Sprintf(" prints %q, and %d bytes that are left out", p.Output, p.OutputCut)
		}
	}
	s.note("%s", text)
}

func or(text string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return text + at.Format("15:04:05")
}

func short(id job.RunID) string { return string(id[len(id)-4:]) }

func (s *tale) say(format string, args ...any) {
	fmt.Fprintf(&s.out, "  %s  %s\n", instant(s.clock).Format("Mon 15:04:05.000"), fmt.Sprintf(format, args...))
}

func (s *tale) note(format string, args ...any) {
	fmt.Fprintf(&s.out, "                      %s\n", fmt.Sprintf(format, args...))
}
