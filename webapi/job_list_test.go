package webapi

import (
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/logstore"
)

// shelf saves jobs of every sort, and returns a function that lists them.
func shelf(w *world) func(parameters string) []string {
	w.Helper()
	save := func(name job.Name, more map[string]any) {
		w.Helper()
		doc := document(name, "@daily")
		maps.Copy(doc, more)
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), doc)
	}
	year := time.Now().Year()
	save("a/close", map[string]any{"owner": "lin", "tags": []string{"money", "nightly"}, "title": "Close the books"})
	save("a/mail", map[string]any{"owner": "noah", "tags": []string{"money"}, "task": map[string]any{"handler": "send_mail"}})
	save("b/hand", map[string]any{"schedule": map[string]any{}, "owner": "lin"})
	save("b/over", map[string]any{"schedule": map[string]any{"once": "2020-01-01T00:00:00Z"}})
	save("b/rest", map[string]any{"paused": true, "schedule": map[string]any{"cron": "0 0 1 1 *"}})
	save("b/soon", map[string]any{"schedule": map[string]any{"cron": "* * * * *"}, "title": "Every minute of " + itoa(int64(year))})
	return func(parameters string) (names []string) {
		w.Helper()
		page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?"+parameters, nil)
		for _, item := range page.Items {
			names = append(names, string(item.Definition.Job.Job))
		}
		if page.Total < len(names) {
			w.Errorf("%s: total %d of %v", parameters, page.Total, names)
		}
		return names
	}
}

func where(terms ...string) string { return url.Values{"where": terms}.Encode() }

func TestJobsAreListedByWhatHoldsOfThem(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	for terms, expected := range map[string][]string{
		where("owner:lin"):                        {"a/close", "b/hand"},
		where("owner:lin", "owner:noah"):          {"a/close", "a/mail", "b/hand"},
		where("owner:none", "group:b"):            {"b/over", "b/rest", "b/soon"},
		where("-owner:none"):                      {"a/close", "a/mail", "b/hand"},
		where("tag:money", "-tag:nightly"):        {"a/mail"},
		where("type:handler"):                     {"a/mail"},
		where("handler:send_mail"):                {"a/mail"},
		where("schedule:manual", "schedule:once"): {"b/hand", "b/over"},
		where("state:paused"):                     {"b/rest"},
		where("state:ended"):                      {"b/over"},
		where("state:manual"):                     {"b/hand"},
		where("state:active", "group:b"):          {"b/soon"},
		where("fires:2m"):                         {"b/soon"},
		where("changed:1h", "group:a"):            {"a/close", "a/mail"},
		where("last:none", "group:a"):             {"a/close", "a/mail"},
		"q=BOOKS":                                 {"a/close"},
		"q=send_mail":                             {"a/mail"},
		"q=nightly":                               {"a/close"},
	} {
		w.same(terms, expected, list(terms))
	}
	w.problem(400, "invalid", "GET", "/api/v1/jobs?"+where("colour:red"), nil, "where", "FIELD:VALUE")
	w.problem(400, "invalid", "GET", "/api/v1/jobs?"+where("state:asleep"), nil, "where", "active paused gave_up manual ended")
	w.problem(400, "invalid", "GET", "/api/v1/jobs?"+where("fires:soon"), nil, "where", "fires:24h")
	w.problem(400, "invalid", "GET", "/api/v1/jobs?sort=owner&cursor=b/hand", nil, "cursor")
}

func TestJobsAreListedByTheirNames(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	for parameters, expected := range map[string][]string{
		"job=b/soon&job=a/mail&job=a/none":        {"a/mail", "b/soon"},
		"job=b/soon&job=a/mail&group=a":           {"a/mail"},
		"job=b/hand&job=a/close&where=owner:noah": nil,
	} {
		if diff := cmp.Diff(expected, list(parameters)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", parameters, diff)
		}
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/jobs?job=soon", nil, "job")
}

func TestJobsComeInTheOrderThatIsAskedFor(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d).UTC().Truncate(time.Millisecond) }
	ended := func(name job.Name, status job.Status, at time.Time, took time.Duration) []logstore.Update {
		run := begun(name, at)
		run = started(run, "w")
		run.StartedAt = at
		return []logstore.Update{begun(name, at), run, finished(run, status, 0, at.Add(took))}
	}
	var all []logstore.Update
	all = append(all, ended("a/close", job.StatusSucceeded, ago(3*time.Hour), time.Minute)...)
	all = append(all, ended("a/close", job.StatusFailed, ago(2*time.Hour), time.Minute)...)
	all = append(all, ended("a/mail", job.StatusFailed, ago(4*time.Hour), time.Second)...)
	all = append(all, ended("a/mail", job.StatusFailed, ago(time.Hour), time.Second)...)
	all = append(all, ended("b/hand", job.StatusSucceeded, ago(5*time.Hour), time.Second)...)
	running := started(begun("b/hand", ago(30*time.Minute)), "w")
	all = append(all, begun("b/hand", ago(30*time.Minute)), running)
	w.history(all...)

	list("sort=success") // waits for the figures of the week, which others do without
	for parameters, expected := range map[string][]string{
		// two failures in a row, one, longer than ever, then by next fire
		"sort=attention":                     {"a/mail", "a/close", "b/hand", "b/soon", "b/over", "b/rest"},
		"sort=next&group=b":                  {"b/soon", "b/hand", "b/over", "b/rest"},
		"sort=-last&limit=3":                 {"b/hand", "a/mail", "a/close"},
		"sort=last&limit=3":                  {"a/close", "a/mail", "b/hand"},
		"sort=success&limit=3":               {"a/mail", "a/close", "b/hand"},
		"sort=-p95&limit=1":                  {"a/close"},
		"sort=owner&" + where("-owner:none"): {"a/close", "b/hand", "a/mail"},
		"sort=-owner":                        {"a/mail", "a/close", "b/hand", "b/over", "b/rest", "b/soon"},
		"sort=owner":                         {"a/close", "b/hand", "a/mail", "b/over", "b/rest", "b/soon"},
		"sort=-name":                         {"b/soon", "b/rest", "b/over", "b/hand", "a/mail", "a/close"},
		"sort=-name&job=a/mail&job=b/over":   {"b/over", "a/mail"},
		where("last:failed"):                 {"a/close", "a/mail"},
		where("-last:failed", "-last:none"):  {"b/hand"},
	} {
		w.same(parameters, expected, list(parameters))
	}

	last, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?sort=-name&limit=4", nil)
	w.same("the last page by name", []string{"a/mail", "a/close"}, list("sort=-name&limit=4&cursor="+url.QueryEscape(last.Next)))

	first, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?sort=attention&limit=2&week=true", nil)
	rest := list("sort=attention&limit=10&cursor=" + url.QueryEscape(first.Next))
	w.same("the page after", []string{"b/hand", "b/soon", "b/over", "b/rest"}, rest)
	w.same("the week", &JobWeek{Executed: 2, Failed: 2, P50Ms: first.Items[0].Week.P50Ms, P95Ms: first.Items[0].Week.P95Ms, SuccessRate: new(0.0)}, first.Items[0].Week)
	if p95 := first.Items[0].Week.P95Ms; p95 < 900 || p95 > 1100 {
		t.Errorf("p95 %d ms, want about 1000", p95)
	}
}

func TestJobsAreCountedByManyFiltersAtOnce(t *testing.T) {
	t.Parallel()
	counted := func(t *testing.T, configure ...func(*Config, *world)) []*int {
		t.Helper()
		w := startWorld(t, configure...)
		shelf(w)
		r, _ := want[JobCounts](w, http.StatusOK, "POST", "/api/v1/jobs/counts", map[string]any{"filters": []map[string]any{
			{},
			{"group": "a"},
			{"paused": true},
			{"q": "books"},
			{"where": []string{"owner:lin"}},
			{"group": "b", "last": []string{"failed"}},
			{"q": "nightly", "where": []string{"-owner:lin"}},
			{"where": []string{"last:none"}},
		}})
		refuse := func(about string, filters ...map[string]any) {
			t.Helper()
			w.problem(400, "invalid", "POST", "/api/v1/jobs/counts", map[string]any{"filters": filters}, about)
		}
		refuse("filters[1].where", map[string]any{}, map[string]any{"where": []string{"colour:red"}})
		refuse("filters")
		return r.Totals
	}
	away := func(_ *Config, w *world) { w.store = away{w.store} }
	if diff := cmp.Diff([]*int{new(6), new(2), new(1), new(1), new(2), new(0), new(0), new(6)}, counted(t)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]*int{new(6), new(2), new(1), new(1), new(2), nil, new(0), nil}, counted(t, away)); diff != "" {
		t.Errorf("without the history: %s", diff)
	}
}

func TestWhatThereIsToChooseFromAmongJobsIsCounted(t *testing.T) {
	w := newWorld(t)
	shelf(w)
	facets := func(parameters, field string) map[string]int {
		t.Helper()
		r, _ := want[JobFacets](w, http.StatusOK, "GET", "/api/v1/jobs/facets?"+parameters, nil)
		counts := map[string]int{}
		for _, f := range r.Items[field] {
			counts[f.Value] = f.Count
		}
		return counts
	}
	w.same("owners", map[string]int{"lin": 2, "noah": 1, "none": 3}, facets("", "owner"))
	w.same("tags of the owner", map[string]int{"money": 1, "nightly": 1, "none": 1}, facets(where("owner:lin"), "tag"))
	w.same("owners beside the one that is chosen", map[string]int{"lin": 2, "noah": 1, "none": 3}, facets(where("owner:lin"), "owner"))
	w.same("states", map[string]int{"active": 3, "paused": 1, "manual": 1, "ended": 1}, facets("", "state"))
}

func TestJobsThatFailAreToldApartByTheirError(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	at := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	end := func(name job.Name, status job.Status, message string) {
		r := begun(name, at)
		ended := finished(started(r, "i1"), status, 0, at.Add(time.Minute))
		ended.Message = message
		w.history(r, ended)
	}
	end("a/close", job.StatusFailed, "no answer from 10.0.0.7:5432\nafter 3 tries")
	end("a/mail", job.StatusTimedOut, "no answer from 10.0.0.8:5432")
	end("b/hand", job.StatusFailed, "paper jam")
	end("b/soon", job.StatusSucceeded, "paper jam")
	silent := where("error:no answer from #")
	w.same(silent, []string{"a/close", "a/mail"}, list(silent))
	w.same("others that fail", []string{"b/hand"}, list(where("-error:no answer from #", "-error:none")))
	w.same("none", []string{"b/over", "b/rest", "b/soon"}, list(where("error:none")))
	r, _ := want[JobFacets](w, http.StatusOK, "GET", "/api/v1/jobs/facets?last=failed&last=timed_out", nil)
	w.same("errors", []JobFacet{
		{Value: "no answer from #", Count: 2, Message: "no answer from 10.0.0.8:5432"},
		{Value: "paper jam", Count: 1, Message: "paper jam"},
	}, r.Items["error"])
}

func TestJobsThatArePausedBecauseTheyFailedAreFound(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	pause := func(name, why string) {
		want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/"+name+"/pause", map[string]any{"note": why})
	}
	pause("a/close", reason.FailuresInARow.With(5, "01a20769-2120-7000-8000-000000000000")) // as a scheduler notes it
	pause("a/mail", "we move")
	w.same("paused", []string{"a/close", "a/mail", "b/rest"}, list(where("state:paused")))
	w.same("gave up", []string{"a/close"}, list(where("state:gave_up")))
}

func TestManyJobsGetAnotherOwnerAndTags(t *testing.T) {
	w := newWorld(t)
	list := shelf(w)
	change := map[string]any{"action": "edit", "owner": "mia", "add_tags": []string{"gdpr"}, "remove_tags": []string{"money"}, "note": "moved", "filter": map[string]any{"group": "a"}}
	change["dry_run"] = true
	_, short := w.changeJobs(change)
	w.same("what would be done", []string{"a/close changed", "a/mail changed"}, short)
	w.same("before", []string(nil), list(where("owner:mia")))
	change["dry_run"] = false
	_, short = w.changeJobs(change)
	w.same("what was done", []string{"a/close changed", "a/mail changed"}, short)
	w.same("after", []string{"a/close", "a/mail"}, list(where("owner:mia", "tag:gdpr", "-tag:money")))
	_, short = w.changeJobs(change)
	w.same("again", []string{"a/close unchanged", "a/mail unchanged"}, short)
	item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/a/close", nil)
	w.same("its tags", []string{"nightly", "gdpr"}, item.Definition.Tags)

	many := map[string]any{"action": "edit", "add_tags": []string{"two words"}, "jobs": []string{"a/close"}}
	_, short = w.changeJobs(many)
	w.same("a tag that is none", []string{"a/close refused 400 invalid"}, short)
	w.problem(400, "invalid", "POST", "/api/v1/jobs/bulk", map[string]any{"action": "edit", "jobs": []string{"a/close"}}, "owner")
	w.problem(400, "invalid", "POST", "/api/v1/jobs/bulk", map[string]any{"action": "pause", "owner": "x", "jobs": []string{"a/close"}}, "owner", "edit")
}

func TestJobsAreInOrderOfNameWhileTheLogStoreIsAway(t *testing.T) {
	w := newWorld(t, func(_ *Config, w *world) { w.store = away{w.store} })
	list := shelf(w)
	w.same("by attention", []string{"a/close", "a/mail", "b/hand", "b/over", "b/rest", "b/soon"}, list("sort=attention"))
	w.problem(503, "unavailable", "GET", "/api/v1/jobs?"+where("last:failed"), nil, "log store does not answer")
}

func TestJobsAreCalledByTheirTitles(t *testing.T) {
	w := newWorld(t)
	for name, title := range map[string]string{"a/one": "First of all", "a/two": "", "b/three": "Third"} {
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+name, map[string]any{"job": name, "title": title, "owner": map[string]string{"a/two": "lin"}[name], "task": map[string]any{"shell": "true"}})
	}
	got, _ := want[JobTitles](w, http.StatusOK, "GET", "/api/v1/jobs/titles?job=a/one&job=a/two&job=b/three&job=a/nosuch&job=strange", nil)
	w.same("titles", map[string]string{"a/one": "First of all", "b/three": "Third"}, got.Titles)
	w.same("owners", map[string]string{"a/two": "lin"}, got.Owners)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/jobs/titles", nil, "job")
}
