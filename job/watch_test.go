package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAWatchMayBeWrittenAsItsGrace(t *testing.T) {
	j, err := job.Decode([]byte(`{"job":"ops/backup","schedule":{"cron":"0 3 * * *"},"task":{"watch":"30m"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !j.Elsewhere() || j.Task.Kind() != job.KindWatch || j.Task.Watch.Grace.Std() != 30*time.Minute {
		t.Errorf("%+v", j.Task)
	}
	if v := (job.Version{Job: j}); v.Needs() != 3 {
		t.Errorf("a program of before would fire an empty task: format %d", v.Needs())
	}
}

func TestWhatAWatchCannotBeIsRefused(t *testing.T) {
	for field, document := range map[string]string{
		"task.watch.grace":    `"task":{"watch":"9s"}`,
		"task.watch.early":    `"schedule":{"cron":"*/10 * * * *"},"task":{"watch":{"early":"5m1s"}}`,
		"task.watch.from":     `"task":{"watch":{"from":"later"}}`,
		"task.watch.methods":  `"task":{"watch":{"methods":["DELETE"]}}`,
		"task.watch.shell":    `"task":{"watch":{"shell":"x"}}`,
		"task":                `"task":{"watch":"1m","shell":"true"}`,
		"start_within":        `"task":{"watch":"1m"},"start_within":"1m"`,
		"schedule.spread":     `"task":{"watch":"1m"},"schedule":{"cron":"@daily","spread":"1m"}`,
		"misfire":             `"task":{"watch":"1m"},"misfire":"skip"`,
		"overlap":             `"task":{"watch":"1m"},"overlap":"queue"`,
		"retry":               `"task":{"watch":"1m"},"retry":{"limit":1}`,
		"route":               `"task":{"watch":"1m"},"route":"random"`,
		"labels":              `"task":{"watch":"1m"},"labels":{"a":"b"}`,
		"priority":            `"task":{"watch":"1m"},"priority":"high"`,
		"delivery":            `"task":{"watch":"1m"},"delivery":"at_most_once"`,
		"map":                 `"task":{"watch":"1m"},"map":{"pieces":2}`,
		"total_timeout":       `"task":{"watch":"1m"},"total_timeout":"1m"`,
		"kill_grace":          `"task":{"watch":"1m"},"kill_grace":"1m"`,
		"params":              `"task":{"watch":"1m"},"params":1`,
		"steps[0].task.watch": `"steps":[{"step":"a","task":{"watch":"1m"}}]`,
	} {
		_, err := job.Decode([]byte(`{"job":"ops/backup",` + document + `}`))
		if !slices.ContainsFunc(job.Problems(err), func(p *job.InvalidError) bool { return p.Field == field }) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPingsAreDueByTheShortestGapBetweenFires(t *testing.T) {
	for document, want := range map[string]job.WatchRule{
		`"schedule":{"cron":"0 3 * * *"},"task":{"watch":"30m"},"timeout":"2h"`: {Grace: 30 * 60e3, Early: 60e3, Timeout: 2 * 3600e3},
		`"schedule":{"cron":"* * * * *"},"task":{"watch":{}}`:                   {Grace: 10 * 60e3, Early: 30e3, Timeout: 24 * 3600e3},
		`"schedule":{"fixed_rate":"10s"},"task":{"watch":{"from":"now"}}`:       {Grace: 10 * 60e3, Early: 5e3, Timeout: 24 * 3600e3, Now: true},
		`"schedule":{"cron":"0 3 * * *"},"task":{"watch":{"early":"0s"}}`:       {Grace: 10 * 60e3, Timeout: 24 * 3600e3},
		`"task":{"watch":"1m"}`: {Grace: 60e3, Early: 60e3, Timeout: 24 * 3600e3},
	} {
		j, err := job.Decode([]byte(`{"job":"ops/backup",` + document + `}`))
		if err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		plan, err := (&job.Planner{}).Plan(&job.Version{Job: j, Version: 1, EffectiveFrom: time.Now()})
		if err != nil || *plan.Watch != want || !plan.Watched() {
			t.Errorf("%s: %+v, %v", document, plan.Watch, err)
		}
	}
}
