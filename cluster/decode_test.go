package cluster

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

// stored returns a version as JOBS has it.
func stored(tb testing.TB) string {
	tb.Helper()
	j := job.Job{
		Job: "payroll/monthly", Schedule: job.Schedule{Cron: "0 3 1 * *", Zone: "Europe/Berlin"}, Task: job.Task{Handler: "pay"},
		Params: json.RawMessage(`{"month": "2026-01", "sum": 1.50}`), Timeout: job.Duration(90 * time.Minute),
		Misfire: job.Misfire{Policy: job.FireAll, Grace: job.Duration(36 * time.Hour), MaxCount: 7}, Overlap: job.Overlap{Policy: job.OverlapQueue, Queue: 3},
		Retry: job.Retry{Limit: 4},
	}
	data, err := json.Marshal(job.Version{Job: j.WithDefaults(), Version: 3, EffectiveFrom: time.Date(2026, 1, 5, 3, 0, 0, 1e6, time.UTC), Author: "ada"})
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func TestVersionsAreDecodedAsEncodingJSONDoes(t *testing.T) {
	whole := stored(t)
	for what, data := range map[string]string{
		"a whole version":               whole,
		"policies as text":              `{"job":"g/j","misfire":"skip","overlap":"queue","version":1}`,
		"absent policies":               `{"job":"g/j","misfire":null,"version":1}`,
		"a later field":                 strings.Replace(whole, `"version":3`, `"later":{"a":[1]},"version":3`, 1),
		"a name in capitals":            strings.Replace(whole, `"misfire"`, `"MISFIRE"`, 1),
		"a name twice":                  strings.Replace(whole, `"version":3`, `"version":2,"version":3`, 1),
		"an escaped duration":           strings.Replace(whole, `"1h30m"`, `"1\u006830m"`, 1),
		"a later field of a policy":     strings.Replace(whole, `"policy":"fire_all"`, `"policy":"fire_all","later":1`, 1),
		"a number for text":             strings.Replace(whole, `"author":"ada"`, `"author":1`, 1),
		"a number for a duration":       strings.Replace(whole, `"1h30m"`, `90`, 1),
		"a duration with a quote in it": strings.Replace(whole, `"1h30m"`, `"1h\"30m"`, 1),
		"text after the end":            whole + "{}",
		"the beginning only":            whole[:len(whole)/2],
		"a list":                        "[]",
		"nothing":                       "",
	} {
		var want job.Version
		err := json.Unmarshal([]byte(data), &want)
		got, gotErr := decodeVersion("0.x", []byte(data))
		switch {
		case (err == nil) != (gotErr == nil):
			t.Errorf("%s: %v, want %v", what, gotErr, err)
		case err != nil:
			t.Logf("%s: %v", what, gotErr)
		case !cmp.Equal(got, want):
			t.Errorf("%s: %s", what, cmp.Diff(want, got))
		}
	}
}

func BenchmarkDecodeAVersion(b *testing.B) {
	data := []byte(stored(b))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeVersion("0.x", data); err != nil {
			b.Fatal(err)
		}
	}
}
