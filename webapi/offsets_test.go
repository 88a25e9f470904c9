package webapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestJobsThatFireAllTheTimeHideNoCrowdedMinute(t *testing.T) {
	w := newWorld(t)
	for i := range 2 {
		w.schedule(job.Name(fmt.Sprintf("ops/heartbeat-%d", i)), map[string]any{"fixed_rate": "10s"})
	}
	for i := range 7 {
		w.schedule(job.Name(fmt.Sprintf("billing/report-%d", i)), map[string]any{"cron": "0 * * * *"})
	}
	const quarter = "from=2036-01-05T11:59:59Z&to=2036-01-05T12:14:59Z"
	s, _ := want[OffsetSuggestions](w, http.StatusOK, "GET", "/api/v1/fires/offsets?"+quarter, nil)
	if len(s.Items) != 7 || s.BusiestBefore < 12+7 || s.BusiestAfter > s.BusiestBefore-4 {
		t.Errorf("%+v", s)
	}
	counted := func(query string) FireCounts {
		t.Helper()
		counts, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?"+quarter+query, nil)
		return counts
	}
	if c := counted(""); c.Jobs != 9 || c.Counts[0] != 2*90+7 {
		t.Errorf("of all jobs: %+v", c)
	}
	if c := counted("&apart=1m"); c.Jobs != 7 || c.Counts[0] != 7 {
		t.Errorf("without those that fire within a minute: %+v", c)
	}
	if c := counted("&apart=2h"); c.Jobs != 0 || c.Counts[0] != 0 {
		t.Errorf("without those that fire within two hours: %+v", c)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/fires/counts?"+quarter+"&apart=soon", nil, "apart")
}

func TestOffsetsAreSuggestedForJobsThatFireTogetherAndMayFireLater(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		w.schedule(job.Name(fmt.Sprintf("billing/hourly-%d", i)), map[string]any{"cron": "0 * * * *"})
	}
	w.schedule("billing/spread", map[string]any{"cron": "0 * * * *", "spread": "5m"})
	w.schedule("billing/often", map[string]any{"cron": "* * * * *"})
	w.schedule("billing/alone", map[string]any{"cron": "30 12 * * *"})
	const hour = "from=2036-01-05T11:30:00Z&to=2036-01-05T12:29:59Z"
	s, _ := want[OffsetSuggestions](w, http.StatusOK, "GET", "/api/v1/fires/offsets?"+hour, nil)
	if len(s.Items) != 12 || s.BusiestBefore < 13 || s.BusiestAfter > s.BusiestBefore/2 {
		t.Fatalf("%+v", s)
	}
	for _, item := range s.Items {
		if !strings.HasPrefix(item.Job, "billing/hourly-") || item.Fires != 1 || item.Spread.String() != "10m" {
			t.Errorf("%+v", item)
		}
	}

	// What was foreseen is what there is once they are taken.
	for _, item := range s.Items {
		doc := document(job.Name(item.Job), "")
		doc["schedule"] = map[string]any{"cron": "0 * * * *", "spread": item.Spread.String()}
		want[PutJobResult](w, http.StatusOK, "PUT", "/api/v1/jobs/"+item.Job, doc)
	}
	again, _ := want[OffsetSuggestions](w, http.StatusOK, "GET", "/api/v1/fires/offsets?"+hour, nil)
	if len(again.Items) != 0 || again.BusiestBefore != s.BusiestAfter {
		t.Errorf("foreseen %d, then %+v", s.BusiestAfter, again)
	}
	counts, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?parts=60&from=2036-01-05T11:30:00Z&to=2036-01-05T12:30:00Z", nil)
	if most := slices.Max(counts.Counts); most != s.BusiestAfter {
		t.Errorf("foreseen %d, counted %d", s.BusiestAfter, most)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/fires/offsets?from=2036-01-05T00:00:00Z&to=2036-01-06T00:00:01Z", nil, "24 hours")
}
