package job

import (
	"encoding/json"
	"testing"
	"time"
)

func TestATargetIsKeptAndAWrongOneIsRefusedByField(t *testing.T) {
	f := func(target, schedule, field string) {
		t.Helper()
		j, err := Decode([]byte(`{"job": "g/a", "task": {"shell": "true"}, "schedule": ` + schedule + `, "target": ` + target + `}`))
		problems := Problems(err)
		if field != "" && (len(problems) != 1 || problems[0].Field != field) || field == "" && err != nil {
			t.Errorf("%s: %v; want a problem with %q", target, err, field)
		}
		if field != "" {
			return
		}
		data, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Decode(data); err != nil || *again.Target != *j.Target {
			t.Errorf("%s comes back as %+v, with %v", target, again.Target, err)
		}
	}
	const hourly = `{"cron": "0 * * * *"}`
	f(`{"success_rate": 99.95, "start_delay": "5m"}`, hourly, "")
	f(`{"success_rate": 100}`, hourly, "")
	f(`{"start_delay": "7d"}`, hourly, "")
	f(`{}`, hourly, "target")
	f(`{"success_rate": 0}`, hourly, "target")
	f(`{"success_rate": -1}`, hourly, "target.success_rate")
	f(`{"success_rate": 100.1}`, hourly, "target.success_rate")
	f(`{"success_rate": "99"}`, hourly, "target.success_rate")
	f(`{"start_delay": "8d"}`, hourly, "target.start_delay")
	f(`{"start_delay": "-1s"}`, hourly, "target.start_delay")
	f(`{"start_delay": "soon"}`, hourly, "target.start_delay")
	f(`{"success": 99}`, hourly, "target.success")
	f(`{"success_rate": 99}`, `{}`, "target")
}

func TestATargetAllowsWholeFailures(t *testing.T) {
	f := func(rate float64, runs, want int) {
		t.Helper()
		if got := (&Target{SuccessRate: rate}).AllowedFailures(runs); got != want {
			t.Errorf("%g %% of %d runs allow %d failures; want %d", rate, runs, got, want)
		}
	}
	f(100, 1000, 0)
	f(99.9, 1000, 1) // exactly, though no binary fraction is a tenth
	f(99.9, 999, 0)
	f(99.5, 720, 3)
	f(0, 7, 7)
}

// What a job must reach is no part of when it fires: versions that differ in it alone share all
// that a scheduler decides by.
func TestATargetChangesNoFire(t *testing.T) {
	var planner Planner
	plan := func(target *Target, schedule Schedule) Plan {
		t.Helper()
		j := Job{Job: "g/a", Schedule: schedule, Retry: Retry{Limit: 2}, Task: Task{Shell: "true"}, Target: target}.WithDefaults()
		p, err := planner.Plan(&Version{Job: j, Version: 1, EffectiveFrom: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, schedule := range []Schedule{{Cron: "H * * * *", Spread: Duration(time.Minute)}, {FixedRate: Duration(time.Minute)}, {FixedDelay: Duration(time.Minute)}} {
		plain := plan(nil, schedule)
		if judged := plan(&Target{SuccessRate: 99, StartDelay: Duration(time.Second)}, schedule); judged != plain {
			t.Errorf("%s is planned as %+v with a target, and as %+v without", schedule, judged, plain)
		}
	}
}
