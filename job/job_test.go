package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestDecodeFillsInDefaults(t *testing.T) {
	j, err := job.Decode([]byte(`{"job":"billing/nightly","schedule":{"cron":" 0 3 * * * "},"misfire":"fire_all","task":{"shell":"true"},"params":{"n":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := job.Job{
		Job:      "billing/nightly",
		Schedule: job.Schedule{Cron: "0 3 * * *", Zone: "UTC"},
		Misfire:  job.Misfire{Policy: job.FireAll, Grace: job.Duration(15 * time.Second), MaxCount: 100, MaxAge: job.Duration(24 * time.Hour)},
		Delivery: job.AtLeastOnce,
		Route:    job.RouteAny,
		Overlap:  job.Overlap{Policy: job.OverlapAllow},
		Task:     job.Task{Shell: "true"},
		Params:   json.RawMessage(`{"n":1}`),
	}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	data, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	again, err := job.Decode(data)
	if diff := cmp.Diff(j, again); diff != "" || err != nil {
		t.Errorf("decoded from what was encoded: %v\n%s", err, diff)
	}
}

func TestARetryMayBeWrittenAsItsLimit(t *testing.T) {
	for _, limit := range []int{0, 1, 9, 10} {
		j, err := job.Decode(fmt.Appendf(nil, `{"job":"g/a","task":{"handler":"h"},"retry":%d}`, limit))
		if err != nil || j.Retry.Limit != limit {
			t.Errorf("retry %d is read as %d, %v", limit, j.Retry.Limit, err)
		}
	}
}

func TestADocumentThatSaysNothingOfAPauseKeepsIt(t *testing.T) {
	for text, keeps := range map[string]bool{
		`{"job":"g/a"}`:                                       true,
		`{"job":"g/a","paused":false}`:                        false,
		`{"job":"g/a","paused":true}`:                         false,
		`{"job":"g/a","paused_until":"2026-03-01T09:00:00Z"}`: false,
		`{"job":"g/a","paused":null,"paused_until":null}`:     false,
	} {
		var d job.Document
		if err := json.Unmarshal([]byte(text), &d); err != nil || d.KeepPause != keeps {
			t.Errorf("%s keeps a pause: %t, %v", text, d.KeepPause, err)
		}
	}
}

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	wrong := func(document, field, reason string) {
		t.Helper()
		_, err := job.Decode([]byte(document))
		if !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%.80s: %v", document, err)
			return
		}
		for _, p := range job.Problems(err) {
			if p.Field == field && strings.Contains(p.Reason, reason) {
				return
			}
		}
		t.Errorf("%.80s: %v; want %s … %s", document, err, field, reason)
	}
	with := func(schedule string) string {
		return `{"job":"g/a","task":{"handler":"h"},"schedule":` + schedule + `}`
	}
	and := func(rest string) string { return `{"job":"g/a","task":{"handler":"h"},` + rest + `}` }

	wrong(``, "", "ends too early")
	wrong(`{"job":`, "", "ends too early")
	wrong(`{]`, "", "not JSON")
	wrong(and(`"x":1`)+`{}`, "x", "not a known field")
	wrong(`{"job":"g/a","task":{"handler":"h"}} {}`, "", "goes on after its end")
	wrong(`{"job":7,"task":{"handler":"h"}}`, "job", "must be")
	wrong(with(`{"cron":["* * * * *"]}`), "schedule.cron", "must be text")
	wrong(and(`"description":"`+strings.Repeat("x", job.MaxDocument)+`"`), "", "at most 262144")
	wrong(and(`"description":"`+strings.Repeat("x", job.MaxDescription+1)+`"`), "description", "at most 4096")
	wrong(and(`"title":"`+strings.Repeat("x", job.MaxTitle+1)+`"`), "title", "at most 200")
	wrong(and(`"title":"two\nlines"`), "title", "one line")
	wrong(and(`"owner":" lin"`), "owner", "begin or end with a space")
	wrong(and(`"tags":["nightly run"]`), "tags", "letters, digits")
	wrong(and(`"tags":[""]`), "tags", "letters, digits")
	wrong(and(`"tags":["a","b","a"]`), "tags", "twice")
	wrong(and(`"tags":[`+strings.Repeat(`"t",`, job.MaxTags)+`"t"]`), "tags", "at most 20")

	for _, name := range []string{"g.x/a", "g/a b", "g/*", "g/>", "g", "/a", "g/", "g/a/b", "G/a", "g/-a", "g/_a", "g/" + strings.Repeat("a", 64)} {
		wrong(fmt.Sprintf(`{"job":%q,"task":{"handler":"h"}}`, name), "job", "")
	}

	wrong(with(`{"cron":"* * * * *","fixed_rate":"5m"}`), "schedule", "more than one of")
	wrong(with(`{"cron":"61 * * * *"}`), "schedule.cron", "61")
	wrong(with(`{"cron":"0 0 30 2 *"}`), "schedule.cron", "")
	wrong(with(`{"cron":"0 0 31 2 *"}`), "schedule.cron", "")
	wrong(with(`{"cron":"@every 10ms"}`), "schedule.cron", "between 100ms")
	wrong(with(`{"cron":"@every soon"}`), "schedule.cron", "@every 90s")
	wrong(with(`{"cron":"@at tomorrow"}`), "schedule.cron", "RFC 3339")
	wrong(with(`{"cron":"* * * * *","zone":"Mars/Olympus"}`), "schedule.zone", "IANA")
	wrong(with(`{"cron":"* * * * *","dst":"never"}`), "schedule.dst", "")
	wrong(with(`{"fixed_rate":"5m","dst":"quartz"}`), "schedule.dst", "cron and every only")
	wrong(with(`{"fixed_rate":"-5m"}`), "schedule.fixed_rate", "between 100ms")
	wrong(with(`{"fixed_rate":"1500us"}`), "schedule.fixed_rate", "whole milliseconds")
	wrong(with(`{"fixed_delay":"367d"}`), "schedule.fixed_delay", "between 100ms")
	wrong(with(`{"fixed_rate":"5"}`), "schedule.fixed_rate", "unit")
	wrong(with(`{"fixed_rate":5}`), "schedule.fixed_rate", "unit")
	wrong(with(`{"fixed_rate":"5m","spread":"25h"}`), "schedule.spread", "24h")
	wrong(with(`{"once":"1969-12-31T00:00:00Z"}`), "schedule.once", "1970")
	wrong(with(`{"fixed_rate":"5m","from":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`), "schedule.until", "before schedule.from")
	wrong(with(`{"cron":"* * * * *","anchor":"2026-01-02T00:00:00Z"}`), "schedule.anchor", "fixed_rate only")
	wrong(with(`{"cron":"* * * * *","only":["Holidays"]}`), "schedule.only", "lower-case")
	wrong(with(`{"cron":"* * * * *","except":[""]}`), "schedule.except", "1 to 63")
	wrong(with(`{"except":["`+strings.Repeat(`a","`, 16)+`b"]}`), "schedule.only", "more than 16")

	wrong(and(`"misfire":"sometimes"`), "misfire.policy", "fire_once")
	wrong(and(`"misfire":{"policy":"skip","max_count":3}`), "misfire", "fire_all only")
	wrong(and(`"misfire":{"policy":"fire_all","max_count":501}`), "misfire.max_count", "500")
	wrong(and(`"misfire":{"policy":"fire_all","max_age":"-1s"}`), "misfire.max_age", "between")
	wrong(and(`"misfire":{"grace":"25h"}`), "misfire.grace", "24h")
	wrong(and(`"misfire":{"patience":"1h"}`), "misfire.patience", "not a known field")
	wrong(and(`"delivery":"exactly_once"`), "delivery", "at_most_once")
	wrong(and(`"route":"nearest"`), "route", "must be one of any")
	wrong(and(`"route":"broadcast","map":{"pieces":3}`), "map", "route broadcast")
	wrong(and(`"map":{}`), "map.pieces", "between 1 and 10000")
	wrong(and(`"map":{"pieces":10001}`), "map.pieces", "between 1 and 10000")
	wrong(and(`"map":{"pieces":3,"split":true}`), "map.pieces", "map.split")
	wrong(and(`"map":{"pieces":3,"at_once":-1}`), "map.at_once", "between 0")
	wrong(and(`"map":{"parts":3}`), "map.parts", "not a known field")
	wrong(and(`"map":7`), "map", "")
	wrong(and(`"succeeds_if":"80%"`), "succeeds_if", "done in pieces")
	wrong(and(`"map":{"pieces":3},"succeeds_if":"most"`), "succeeds_if", "from \"1%\"")
	wrong(and(`"map":{"pieces":3},"succeeds_if":"0%"`), "succeeds_if", "from \"1%\"")
	wrong(and(`"map":{"pieces":3},"succeeds_if":80`), "succeeds_if", "from \"1%\"")
	wrong(and(`"labels":{"Zone":"eu"}`), "labels", "lower-case")
	wrong(and(`"labels":{"zone":""}`), "labels.zone", "1 to 63")
	wrong(and(`"labels":{"zone":"a b"}`), "labels.zone", "1 to 63")
	wrong(and(`"overlap":"wait"`), "overlap.policy", "queue")
	wrong(and(`"overlap":{"limit":-1}`), "overlap.limit", "10000")
	wrong(and(`"overlap":{"policy":"skip","queue":3}`), "overlap", "queue only")
	wrong(and(`"overlap":{"policy":"queue","queue":100001}`), "overlap.queue", "100000")
	wrong(and(`"overlap":{"policy":"queue","when_full":"explode"}`), "overlap.when_full", "skip_oldest")
	wrong(and(`"overlap":{"max":3}`), "overlap.max", "not a known field")
	wrong(and(`"overlap":{"key":"${params.c}"}`), "overlap.key", "queue, skip and replace")
	wrong(and(`"overlap":{"policy":"queue","key":"${fire_time|day}"}`), "overlap.key", "names ${fire_time|day}; a key may name only parameters")
	wrong(and(`"overlap":{"policy":"queue","key":"${results.list.x}"}`), "overlap.key", "names ${results.list.x}; a key may name only parameters")
	wrong(and(`"overlap":{"policy":"queue","key":"${HOME}/${params.c}"}`), "overlap.key", "names ${HOME}; a key may name only parameters")
	wrong(and(`"overlap":{"policy":"queue","key":"${params.a b}"}`), "overlap.key", "${params.a b}: \"a b\" must be the name of a field")
	wrong(and(`"overlap":{"policy":"queue","key":"${params.c"}`), "overlap.key", "has ${ without }")
	wrong(and(`"overlap":{"policy":"queue","key":"$${params.c}"}`), "overlap.key", "must name a parameter, such as ${params.customer}")
	wrong(and(`"overlap":{"policy":"queue","key":"${params.`+strings.Repeat("c", 256)+`}"}`), "overlap.key", "at most 256")
	wrong(and(`"overlap":{"policy":"queue","total":3}`), "overlap.total", "goes only with key")
	wrong(and(`"overlap":{"policy":"replace","key":"${params.c}","total":3}`), "overlap.total", "does not go with the policy replace")
	wrong(and(`"overlap":{"policy":"queue","limit":4,"key":"${params.c}","total":3}`), "overlap.total", "between limit, which is 4, and 10000")
	wrong(and(`"overlap":{"policy":"skip","key":"${params.c}","total":10001}`), "overlap.total", "between limit, which is 1, and 10000")
	wrong(and(`"retry":-1`), "retry.limit", "100")
	wrong(and(`"retry":{"delay":"5s"}`), "retry.limit", "1 or more")
	wrong(and(`"retry":{"limit":1,"backoff":"random"}`), "retry.backoff", "linear")
	wrong(and(`"retry":{"limit":1,"delay":"-1s"}`), "retry.delay", "between")
	wrong(and(`"retry":{"limit":1,"delay":"5m","max_delay":"1m"}`), "retry.max_delay", "less than retry.delay")
	wrong(and(`"retry":{"limit":1,"jitter_percent":101}`), "retry.jitter_percent", "100")
	wrong(and(`"retry":{"limit":1,"on":["cancelled"]}`), "retry.on", "timed_out")
	wrong(and(`"delivery":"at_most_once","retry":{"limit":1,"on":["lost"]}`), "retry.on", "forbids")
	wrong(and(`"retry":{"limit":1,"on":["timed_out"],"exit_codes":[1]}`), "retry.exit_codes", "narrows failed")
	wrong(and(`"children":["x"]`), "children[0].job", "group/name")
	wrong(and(`"children":["g/a"]`), "children[0].job", "the job itself")
	wrong(and(`"children":["g/b","g/b"]`), "children[1].job", "twice")
	wrong(and(`"children":[{"job":"g/b","on":"tuesday"}]`), "children[0].on", "failure")
	wrong(and(`"join":["g/a"]`), "join", `write steps with "join"`)
	wrong(and(`"total_timeout":"-1s"`), "total_timeout", "no limit")
	wrong(and(`"timeout":"5m","total_timeout":"1m"`), "total_timeout", "less than timeout")
	wrong(and(`"timeout":"5m","warn_after":"5m"`), "warn_after", "less than timeout")
	wrong(and(`"kill_grace":"1h"`), "kill_grace", "10m")
	wrong(and(`"start_within":"200h"`), "start_within", "no limit")
	wrong(and(`"max_deliveries":11`), "max_deliveries", "between 1 and 10")
	wrong(and(`"max_deliveries":-1`), "max_deliveries", "between 1 and 10")
	wrong(and(`"max_deliveries":2,"delivery":"at_most_once"`), "max_deliveries", "must be 1 with delivery at_most_once")
	wrong(and(`"pause_after_failures":-1`), "pause_after_failures", "never")
	wrong(and(`"timeout":"-1s"`), "timeout", "no limit")
	wrong(and(`"params":"`+strings.Repeat("x", job.MaxParams)+`"`), "params", "at most 65536")
	wrong(and(`"params_schema":true`), "params_schema", "must be an object")
	wrong(and(`"params_schema":{"title":"`+strings.Repeat("x", job.MaxSchema)+`"}`), "params_schema", "at most 16384")

	wrong(`{"job":"g/a","task":{}}`, "task", "exactly one")
	wrong(`{"job":"g/a","task":{"handler":"h","shell":"true"}}`, "task", "exactly one")
	wrong(`{"job":"g/a","task":{"handler":"h","stdin":"x"}}`, "task", "handler does not use")
	wrong(`{"job":"g/a","task":{"shell":"\u0000"}}`, "task.shell", "NUL")
	wrong(`{"job":"g/a","task":{"shell":"`+strings.Repeat("x", job.MaxShell+1)+`"}}`, "task.shell", "at most 65536")
	wrong(`{"job":"g/a","task":{"command":["","x"]}}`, "task.command[0]", "empty")
	wrong(`{"job":"g/a","task":{"command":["x","\u0000"]}}`, "task.command[1]", "NUL")
	wrong(`{"job":"g/a","task":{"shell":"true","env":{"A=B":"1"}}}`, "task.env", "without '='")
}

func TestALabelSelectorMatchesWhoHasAllOfIt(t *testing.T) {
	matches := func(selector, has job.Labels, want bool) {
		t.Helper()
		if got := selector.Match(has); got != want {
			t.Errorf("%q matches %q: %v", selector, has, got)
		}
	}
	eu := job.Labels{"zone": "eu", "gpu": "true"}
	matches(nil, nil, true)
	matches(nil, eu, true)
	matches(job.Labels{"zone": "eu"}, eu, true)
	matches(job.Labels{"zone": "us"}, eu, false)
	matches(job.Labels{"zone": "eu", "disk": "ssd"}, eu, false)
	matches(job.Labels{"zone": "eu"}, nil, false)

	l, err := job.ParseLabels([]string{"zone=eu", "gpu=true"})
	if err != nil || l.String() != "gpu=true,zone=eu" {
		t.Errorf("%q, %v", l, err)
	}
	for _, bad := range []string{"zone", "=eu", "Zone=eu", "zone=", "zone=a b"} {
		if l, err := job.ParseLabels([]string{bad}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q: %v, %v", bad, l, err)
		}
	}
}

func TestDecodeReportsAllProblemsAtOnce(t *testing.T) {
	_, err := job.Decode([]byte(`{"job":"x","timeout":"-1s","task":{}}`))
	var fields []string
	for _, p := range job.Problems(err) {
		fields = append(fields, p.Field)
	}
	if diff := cmp.Diff([]string{"job", "timeout", "task"}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestDurationsReadAndWriteThemselves(t *testing.T) {
	reads := func(text string, want time.Duration, again string) {
		t.Helper()
		got, err := job.ParseDuration(text)
		if err != nil || got != want || job.Duration(got).String() != again {
			t.Errorf("%q is %s, written %q, %v; want %s, %q", text, got, job.Duration(got), err, want, again)
		}
	}
	reads("90s", 90*time.Second, "1m30s")
	reads("5m", 5*time.Minute, "5m")
	reads("1h", time.Hour, "1h")
	reads("1h30m", 90*time.Minute, "1h30m")
	reads("1h0m5s", time.Hour+5*time.Second, "1h0m5s")
	reads("250ms", 250*time.Millisecond, "250ms")
	reads("7d", 7*24*time.Hour, "168h")
	reads("1d12h", 36*time.Hour, "36h")
	reads("0s", 0, "0s")
	for _, text := range []string{"", "5", "d", "1w", "1d5", "123456789d", "-", "1 h"} {
		if _, err := job.ParseDuration(text); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNamesAreTheirParts(t *testing.T) {
	n, err := job.ParseName("billing/nightly-report")
	if err != nil || n.Group() != "billing" || n.Short() != "nightly-report" {
		t.Errorf("%q: group %q, short %q, %v", n, n.Group(), n.Short(), err)
	}
	if got := n.Hash(); got != 0x12567a10eeb44ada {
		t.Errorf("the hash of %s is %#x, but it is part of the format", n, got)
	}
	counts := make([]int, 64)
	for i := range 64_000 {
		counts[job.Name(fmt.Sprintf("g/job-%d", i)).Shard(64)]++
	}
	for shard, n := range counts {
		if n < 850 || n > 1150 {
			t.Errorf("shard %d has %d jobs of 64000", shard, n)
		}
	}
}

func TestARunIDIsAPureFunctionOfItsFire(t *testing.T) {
	at := time.Date(2026, time.March, 1, 9, 0, 0, 123e6, time.UTC)
	ms := at.UnixMilli()
	id := job.FireRunID("g/a", ms, job.CauseSchedule)
	if id != job.FireRunID("g/a", ms, job.CauseSchedule) {
		t.Error("a fire has two ids")
	}
	if id != job.FireRunID("g/a", ms, job.CauseMisfire) {
		t.Error("a misfire is another run than its fire")
	}
	others := map[job.RunID]bool{id: true}
	for _, other := range []job.RunID{
		job.FireRunID("g/b", ms, job.CauseSchedule), job.FireRunID("g/a", ms+1, job.CauseSchedule),
		job.FireRunID("g/a", ms, job.CauseBackfill), job.NewRunID(at), job.NewRunID(at),
	} {
		if others[other] {
			t.Errorf("%s is the id of two runs", other)
		}
		others[other] = true
	}
	for other := range others {
		if parsed, err := job.ParseRunID(string(other)); parsed != other || err != nil {
			t.Errorf("parse %s: %s, %v", other, parsed, err)
		}
		if got := other.Time(); got.Sub(at).Abs() > time.Millisecond {
			t.Errorf("%s is of %s, want %s", other, got, at)
		}
	}
	if want := job.RunID("019ca8a0-3efb-7c4e-a410-42ae38c1c984"); id != want {
		t.Errorf("the id is %s, but %s by the format", id, want)
	}
	for _, text := range []string{"", "x", strings.ToUpper(string(id)), string(id[:35]) + "g", "019ca8a0-3efb-4c4e-a410-42ae38c1c984"} {
		if _, err := job.ParseRunID(text); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q is taken for a run id: %v", text, err)
		}
	}
	if !job.RunID("x").Time().IsZero() {
		t.Error("a bad id has a time")
	}
}

func TestTheIDOfAReportedRunFollowsFromItsPing(t *testing.T) {
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	id := job.PingRunID("ops/backup", "01a2b3c4d5e6f708", noon.UnixMilli())
	if _, err := job.ParseRunID(string(id)); err != nil || !id.Time().Equal(noon) {
		t.Errorf("%s at %s: %v", id, id.Time(), err)
	}
	if id != job.PingRunID("ops/backup", "01a2b3c4d5e6f708", noon.UnixMilli()) {
		t.Error("the same ping makes two runs")
	}
	for _, other := range []job.RunID{
		job.PingRunID("ops/backup", "01a2b3c4d5e6f709", noon.UnixMilli()), job.PingRunID("ops/other", "01a2b3c4d5e6f708", noon.UnixMilli()),
		job.FireRunID("ops/backup", noon.UnixMilli(), job.CauseSchedule),
	} {
		if id == other {
			t.Errorf("%s is the id of two runs", id)
		}
	}
}

func TestFinalStatusesAreTheLastSeven(t *testing.T) {
	for i, s := range job.Statuses {
		if s.Final() != (i >= 3) {
			t.Errorf("%s: final %v", s, s.Final())
		}
		if s.Executed() != (i >= 3 && i < 8) {
			t.Errorf("%s: executed %v", s, s.Executed())
		}
	}
}

func TestProblemsFindsEveryInvalidError(t *testing.T) {
	a, b := &job.InvalidError{Field: "a", Reason: "is bad"}, &job.InvalidError{Reason: "too"}
	got := job.Problems(errors.Join(fmt.Errorf("field: %w", a), errors.New("other"), b))
	if len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("problems %v", got)
	}
	if job.Problems(nil) != nil || job.Problems(errors.New("x")) != nil {
		t.Error("problems where there are none")
	}
	if a.Error() != "a is bad" || b.Error() != "too" {
		t.Errorf("%q, %q", a.Error(), b.Error())
	}
}

func TestRunsThatAreWantedTogetherHaveIDsOfTheirOwn(t *testing.T) {
	wanted := job.NewRunID(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	a, b := job.WantedRunID("g/a", wanted), job.WantedRunID("g/b", wanted)
	if a == b || a == wanted || a != job.WantedRunID("g/a", wanted) || a == job.WantedRunID("g/a", job.NewRunID(wanted.Time())) || !a.Time().Equal(wanted.Time()) {
		t.Errorf("%s %s of %s", a, b, wanted)
	}
	if _, err := job.ParseRunID(string(a)); err != nil {
		t.Error(err)
	}
}

func TestRunsMayOverlapByKey(t *testing.T) {
	for _, overlap := range []string{
		`{"policy":"queue","limit":2,"queue":100000,"key":"${params.customer}","total":50}`, `{"policy":"skip","key":"${params}"}`,
		`{"policy":"replace","key":"${params.zones[0].name?}"}`, `{"policy":"queue","key":"${params.region}/${params.customer}","total":1}`,
	} {
		j, err := job.Decode([]byte(`{"job":"g/a","task":{"handler":"h"},"overlap":` + overlap + `}`))
		if err == nil {
			err = j.Validate()
		}
		if err != nil || j.Overlap.Key == "" {
			t.Errorf("%s: %v, %+v", overlap, err, j.Overlap)
		}
	}
}
