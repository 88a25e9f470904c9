package bus_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// refusedToken reports unless err says that a token is wrong, without the token in it.
func refusedToken(t *testing.T, what string, header nats.Header, err error) {
	t.Helper()
	bad, ok := errors.AsType[*job.InvalidError](err)
	if !ok || bad.Field != bus.HeaderToken {
		t.Errorf("%s: %v; want it refused for its token", what, err)
		return
	}
	if token := header.Get(bus.HeaderToken); len(token) > 10 && strings.Contains(err.Error(), token[9:]) {
		t.Errorf("%s: the reason has the token in it: %v", what, err)
	}
}

func TestOnlyWhoeverWasGivenAnAttemptReportsAboutIt(t *testing.T) {
	mine := endEvent(t, func(*bus.Event) {})
	if _, err := tokens.DecodeEvent(mine.Subject, mine.Header, mine.Data, noon, 64); err != nil {
		t.Fatalf("with the token of the attempt: %v", err)
	}
	forged := func(what string, change func(*bus.Event)) {
		t.Helper()
		m := endEvent(t, func(e *bus.Event) {
			change(e)
			e.Shard, e.Cause = e.Job.Shard(64), job.CauseManual // what else is said fits
		})
		m.Header[bus.HeaderToken] = mine.Header[bus.HeaderToken]
		_, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
		refusedToken(t, what, m.Header, err)
	}
	forged("another job", func(e *bus.Event) { e.Job = "billing/other" })
	forged("another group's job", func(e *bus.Event) { e.Job = "payroll/report" })
	forged("another run", func(e *bus.Event) { e.RunID = job.NewRunID(noon) })
	forged("the next attempt", func(e *bus.Event) { e.Attempt = 2 })
	forged("a piece", func(e *bus.Event) { e.Total = 1 })
	forged("another piece", func(e *bus.Event) { e.Index, e.Total = 1, 2 })

	header := func(token string) nats.Header {
		return nats.Header{bus.HeaderMessage: {bus.MessageEvent}, bus.HeaderToken: {token}}
	}
	good := mine.Header.Get(bus.HeaderToken)
	key, mac, _ := strings.Cut(good, ".")
	stranger, err := message(bus.NewTokens(), everyEnd())
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{
		"no token": "", "a key alone": key, "a key and a dot": key + ".", "a mac alone": mac, "a shorter mac": good[:len(good)-1], "a longer mac": good + "A",
		"padding": good + "==", "white space": " " + good, "no base64": key + "." + strings.Repeat("!", len(mac)),
		"an empty mac": key + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 16)), "another cluster's": stranger.Header.Get(bus.HeaderToken),
	} {
		_, err := tokens.DecodeEvent(mine.Subject, header(token), mine.Data, noon, 64)
		refusedToken(t, what, header(token), err)
	}
	var none bus.Tokens
	_, err = none.DecodeEvent(mine.Subject, mine.Header, mine.Data, noon, 64)
	refusedToken(t, "nobody has keys", mine.Header, err)
}

func TestAKeyInUpperCaseIsUnknown(t *testing.T) {
	for {
		keys := bus.NewTokens()
		m, err := message(keys, everyEnd())
		if err != nil {
			t.Fatal(err)
		}
		token := m.Header.Get(bus.HeaderToken)
		key, mac, _ := strings.Cut(token, ".")
		upper := strings.ToUpper(key)
		if upper == key {
			continue // one key in 43 has digits only
		}
		m.Header.Set(bus.HeaderToken, upper+"."+mac)
		_, err = keys.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
		refusedToken(t, "an upper case key", m.Header, err)
		return
	}
}

// everyEnd is the end of a run with all that it may say.
func everyEnd() *bus.Event {
	e := event(bus.EventFinished)
	e.Shard = e.Job.Shard(64)
	return e
}

func TestOnlyWhatAProgramPrintsHasTheLevelOfItsText(t *testing.T) {
	l := &bus.Log{RunID: run, Job: "billing/nightly", Attempt: 1, Instance: "w"}
	for i, output := range []bus.Output{bus.OutputStdout, bus.OutputStderr, bus.OutputLog, bus.OutputSystem} {
		l.Lines = append(l.Lines, bus.LogLine{Seq: int64(i + 1), At: noon, Level: bus.LevelWarn, Output: output, Text: "ERROR disk full"})
	}
	m, err := logMessage(tokens, l)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tokens.DecodeLog(m.Subject, m.Header, m.Data)
	if err != nil {
		t.Fatal(err)
	}
	var levels []bus.Level
	for _, line := range got.Lines {
		levels = append(levels, line.Level)
	}
	if want := []bus.Level{bus.LevelError, bus.LevelError, bus.LevelWarn, bus.LevelWarn}; !slices.Equal(levels, want) {
		t.Errorf("the levels are %v; want %v", levels, want)
	}
}

func TestOnlyWhoeverWasGivenAnAttemptAddsToItsLog(t *testing.T) {
	l := &bus.Log{RunID: run, Job: "billing/nightly", Attempt: 1, Instance: "w", Lines: []bus.LogLine{{Seq: 1, At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "x"}}}
	mine, err := logMessage(tokens, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.DecodeLog(mine.Subject, mine.Header, mine.Data); err != nil {
		t.Fatalf("with the token of the attempt: %v", err)
	}
	for what, change := range map[string]func(*bus.Log){
		"another run": func(l *bus.Log) { l.RunID = job.NewRunID(noon) }, "another job": func(l *bus.Log) { l.Job = "billing/other" },
		"the next attempt": func(l *bus.Log) { l.Attempt = 2 }, "a piece": func(l *bus.Log) { l.Total = 2 },
	} {
		other := *l
		change(&other)
		m, err := other.Msg(mine.Header.Get(bus.HeaderToken))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tokens.DecodeLog(m.Subject, m.Header, m.Data)
		refusedToken(t, what, m.Header, err)
	}
}

func TestAnAttemptFollowsOnlyWhereTheTriggerHasARuleForIt(t *testing.T) {
	decode := func(m *nats.Msg) *bus.Event {
		t.Helper()
		e, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	end := everyEnd()
	end.Status, end.Retry = job.StatusFailed, true
	of := &bus.Trigger{RunID: end.RunID, Job: end.Job, Attempt: end.Attempt, Piece: end.Piece}
	for _, repeats := range []bool{false, true} {
		m, err := end.Msg(tokens.Trigger(of, repeats, noon))
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(m); got.Retry != repeats || got.Status != job.StatusFailed {
			t.Errorf("with a rule %t: %s, another attempt follows %t", repeats, got.Status, got.Retry)
		}
	}
	splits := *of
	splits.Split = true
	m, err := end.Msg(tokens.Trigger(&splits, false, noon))
	if err != nil {
		t.Fatal(err)
	}
	if !decode(m).Retry {
		t.Error("after a list of pieces nothing follows")
	}
	word, err := tokens.ServerEvent(end, noon)
	if err != nil {
		t.Fatal(err)
	}
	if !decode(word).Retry {
		t.Error("a server may not say that another attempt follows")
	}
	m.Header.Set(bus.HeaderToken, tokens.Trigger(of, false, noon)+".r")
	_, err = tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
	refusedToken(t, "made to one with a rule", m.Header, err)
}

func TestAServersWordHoldsForExactlyWhatItSaid(t *testing.T) {
	m, err := tokens.ServerEvent(everyEnd(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64); err != nil {
		t.Errorf("as it was said: %v", err)
	}
	other := strings.Replace(string(m.Data), "succeeded", "failed", 1)
	_, err = tokens.DecodeEvent(m.Subject, m.Header, []byte(other), noon, 64)
	refusedToken(t, "with another status", m.Header, err)
	_, err = tokens.DecodeLog("log.billing", m.Header, m.Data)
	if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != bus.HeaderMessage && bad.Field != bus.HeaderToken {
		t.Errorf("an event as log lines: %v", err)
	}
}

func TestOnlyServersSayThatNobodyHasAnAttempt(t *testing.T) {
	e := event(bus.EventHeld)
	e.Shard = e.Job.Shard(64)
	m, err := e.Msg(tokens.Trigger(trigger(), false, noon))
	if err != nil {
		t.Fatal(err)
	}
	_, err = tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
	if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != "kind" {
		t.Errorf("an executor says it: %v", err)
	}
	if m, err = tokens.ServerEvent(e, noon); err == nil {
		_, err = tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
	}
	if err != nil {
		t.Errorf("a server says it: %v", err)
	}
}

// All groups share the window in which JetStream drops repeats: whoever took the id of
// another's event first would have it dropped.
func TestNobodyGuessesTheIDOfAnEvent(t *testing.T) {
	e := everyEnd()
	id := func(m *nats.Msg, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m.Header.Get(nats.MsgIdHdr)
	}
	limitless := trigger()
	limitless.Timeout = 0
	token := tokens.Trigger(limitless, false, noon)
	executors := id(e.Msg(token))
	if !strings.Contains(executors, token) {
		t.Errorf("the id is %q", executors)
	}
	if servers := id(tokens.ServerEvent(e, noon)); servers == executors || !strings.HasPrefix(servers, strings.TrimSuffix(executors, token)) || len(servers) != len(executors) {
		t.Errorf("a server that ends the same attempt says so as %q; an executor as %q", servers, executors)
	}
}

func TestARoutedTriggerGoesOnWithItsToken(t *testing.T) {
	m := &nats.Msg{Reply: "$JS.ACK", Header: nats.Header{bus.HeaderToken: {"t"}}}
	if got := bus.RunRequest(m, "", false).Get(bus.HeaderToken); got != "t" {
		t.Errorf("the request has token %q", got)
	}
}

// FuzzNoMessageIsBelievedWithoutItsToken changes a message and its token in every way: what
// passes must be what was signed.
func FuzzNoMessageIsBelievedWithoutItsToken(f *testing.F) {
	m := endEvent(f, func(*bus.Event) {})
	good := m.Header.Get(bus.HeaderToken)
	f.Add(good, m.Data)
	f.Add(good[1:], m.Data)
	f.Add(strings.Replace(good, ".", "..", 1), m.Data)
	f.Add("", m.Data)
	f.Add(good, []byte(strings.Replace(string(m.Data), `"attempt":1`, `"attempt":1,"attempt":2`, 1)))
	f.Add(good, []byte(strings.Replace(string(m.Data), `"attempt":1`, `"attempt":2,"attempt":1`, 1)))
	f.Add(good, []byte(strings.Replace(string(m.Data), `"run_id"`, `"RUN_ID"`, 1)))
	want, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string, data []byte) {
		header := nats.Header{bus.HeaderMessage: {bus.MessageEvent}, bus.HeaderToken: {token}}
		e, err := tokens.DecodeEvent(m.Subject, header, data, noon, 64)
		if err != nil {
			return
		}
		if token != good || e.RunID != want.RunID || e.Job != want.Job || e.Attempt != want.Attempt || e.Piece != want.Piece {
			t.Errorf("with token %q %s is believed", token, data)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	m := endEvent(b, func(*bus.Event) {})
	t := trigger()
	b.Run("sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tokens.Trigger(t, false, noon)
		}
	})
	word, err := tokens.ServerEvent(everyEnd(), noon)
	if err != nil {
		b.Fatal(err)
	}
	for name, m := range map[string]*nats.Msg{"executor's event": m, "server's event": word} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
