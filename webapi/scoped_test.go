package webapi

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// TestRunsAreNarrowedToAnOwnerOrATag has lists, counts, reports, the plan and the ledger cover the jobs of
// an owner or a tag, and nothing else.
func TestRunsAreNarrowedToAnOwnerOrATag(t *testing.T) {
	w := newWorld(t)
	w.writeMonths()
	day := "from=" + time.Now().UTC().AddDate(0, -2, 0).Format(time.RFC3339) + "&to=" + time.Now().UTC().Format(time.RFC3339)
	ahead := "to=" + time.Now().UTC().Add(time.Hour).Format(time.RFC3339)
	for q, jobs := range map[string][]string{
		"&owner=ann":                    {"billing/x"},
		"&owner=bob":                    {"orders/y"},
		"&tag=money":                    {"billing/x", "orders/y"},
		"&tag=money&group=billing":      {"billing/x"},
		"&owner=bob&tag=nightly&group=": {"orders/y"},
	} {
		got, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?"+day+q, nil)
		var seen []string
		for i := range got.Items {
			seen = append(seen, string(got.Items[i].Job))
		}
		slices.Sort(seen)
		if n := len(got.Items); !slices.Equal(slices.Compact(seen), jobs) {
			t.Errorf("%s: the runs are of %v; want %v", q, seen, jobs)
		} else if counts, _ := want[RunCounts](w, http.StatusOK, "GET", "/api/v1/runs/counts?"+day+q, nil); counts.Items[0][job.StatusFailed]+counts.Items[0][job.StatusSucceeded] != n {
			t.Errorf("%s: the runs are counted as %v; want %d", q, counts.Items, n)
		}
		over, _ := want[Overview](w, http.StatusOK, "GET", "/api/v1/overview?"+day+q, nil)
		if len(over.Slowest) != len(jobs) || len(over.Busiest) != 0 || over.Total.Runs != len(got.Items) {
			t.Errorf("%s: the overview has %d runs, slowest %v, busiest %v", q, over.Total.Runs, over.Slowest, over.Busiest)
		}
		fires, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+ahead+q, nil)
		planned, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?"+ahead+q, nil)
		if len(fires.Items) != len(jobs) || planned.Jobs != len(jobs) {
			t.Errorf("%s: fires of %d jobs are listed, and of %d counted; want %d", q, len(fires.Items), planned.Jobs, len(jobs))
		}
	}
	failures, _ := want[FailureList](w, http.StatusOK, "GET", "/api/v1/reports/failures?"+day+"&owner=bob", nil)
	if len(failures.Items) != 0 {
		t.Errorf("the failures of an owner whose jobs do not fail are %+v", failures.Items)
	}
	facets, _ := want[RunFacets](w, http.StatusOK, "GET", "/api/v1/runs/facets?"+day+"&owner=bob&by=job&by=group", nil)
	if len(facets.Items["job"]) != 1 || len(facets.Items["group"]) != 1 {
		t.Errorf("the jobs and groups of an owner are %+v", facets.Items)
	}
	bulk, _ := want[RunBulkResult](w, http.StatusOK, "POST", "/api/v1/runs/bulk", `{"action":"rerun","dry_run":true,"filter":{"owner":"ann"}}`)
	if len(bulk.Items) != 4 {
		t.Errorf("a rerun of the failed runs of an owner is of %d; want 4", len(bulk.Items))
	}
	for _, path := range []string{"/runs?owner=eve", "/runs/counts?" + day + "&owner=eve", "/overview?owner=eve", "/fires?" + ahead + "&owner=eve", "/ledger?owner=eve", "/runs/export?owner=eve"} {
		w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1"+path, nil, `"field":"owner"`)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/runs?owner=ann&job=orders/y", nil, `"field":"job"`)
}
