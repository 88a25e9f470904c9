package route_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/route"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// named returns idle instances of those names, in order.
func named(names ...string) []route.Instance {
	slices.Sort(names)
	all := make([]route.Instance, len(names))
	for i, name := range names {
		all[i] = route.Instance{Name: name, Hash: route.HashOf(name), Slots: 8}
	}
	return all
}

// many returns so many instances.
func many(n int) []route.Instance {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("instance-%04d", i)
	}
	return named(names...)
}

// order returns the names in the order in which they are to be tried.
func order(instances []route.Instance, r route.Run, m *route.Memory) []string {
	var names []string
	for i := range route.Order(instances, r, m) {
		names = append(names, instances[i].Name)
	}
	return names
}

func first(instances []route.Instance, r route.Run, m *route.Memory) string {
	return order(instances, r, m)[0]
}

// runID returns the id of the nth run.
func runID(n int) job.RunID {
	return job.FireRunID("g/a", noon.Add(time.Duration(n)*time.Second).UnixMilli(), job.CauseSchedule)
}

func TestOrderIsWhatTheRouteSays(t *testing.T) {
	busy := named("a", "b", "c", "d")
	busy[0].Running, busy[1].Running, busy[2].Running, busy[3].Running = 4, 1, 9, 2
	had := func(names ...string) *route.Memory {
		m := &route.Memory{}
		for _, name := range names {
			m.Note("g/a", name, busy)
		}
		return m
	}
	none := had()
	for _, c := range []struct {
		route  job.Route
		memory *route.Memory
		prefer string
		want   string
	}{
		{job.RouteFirst, none, "", "a b c d"},
		{job.RouteFirst, none, "c", "c a b d"},
		{job.RouteFirst, none, "gone", "a b c d"},
		{job.RouteLast, none, "", "d c b a"},
		{job.RouteFailover, none, "", "a b c d"},
		{job.RouteBusyover, none, "", "a b c d"},
		{job.RouteAny, none, "", "b d a c"},
		{"", none, "", "b d a c"},
		{job.RouteBroadcast, none, "c", "c b d a"},
		{job.RouteRoundRobin, none, "", "a b c d"},
		{job.RouteRoundRobin, had("a", "b"), "", "c d a b"},
		{job.RouteRoundRobin, had("d"), "", "a b c d"},
		{job.RouteRoundRobin, had("bb"), "", "c d a b"}, // gone meanwhile
		{job.RouteRoundRobin, had("z"), "", "a b c d"},
		{job.RouteLeastFrequentlyUsed, none, "", "a b c d"},
		{job.RouteLeastFrequentlyUsed, had("a", "b", "c", "d", "a", "c", "c"), "", "b d a c"},
		{job.RouteLeastRecentlyUsed, none, "", "a b c d"},
		{job.RouteLeastRecentlyUsed, had("c", "a", "c", "b"), "", "d a c b"},
	} {
		got := strings.Join(order(busy, route.Run{Route: c.route, Job: "g/a", ID: runID(1), Prefer: c.prefer}, c.memory), " ")
		if got != c.want {
			t.Errorf("%s, prefer %q: %s, want %s", c.route, c.prefer, got, c.want)
		}
	}
}

func TestEveryRouteTriesEachInstanceOnce(t *testing.T) {
	for _, r := range append([]job.Route{job.RouteBroadcast}, job.Routes...) {
		for _, n := range []int{0, 1, 2, 17} {
			got := order(many(n), route.Run{Route: r, Job: "g/a", ID: runID(n), Prefer: "instance-0001"}, &route.Memory{})
			slices.Sort(got)
			if len(slices.Compact(got)) != n {
				t.Errorf("%s among %d: %v", r, n, got)
			}
		}
	}
}

func TestWhoHadTheRunsBeforeDecidesJobByJob(t *testing.T) {
	instances := many(3)
	for _, r := range []job.Route{job.RouteRoundRobin, job.RouteLeastFrequentlyUsed, job.RouteLeastRecentlyUsed} {
		m := &route.Memory{}
		var got []string
		for n := range 12 {
			name := job.Name("g/a")
			if n%2 == 1 {
				name = "g/b"
			}
			chosen := first(instances, route.Run{Route: r, Job: name, ID: runID(n)}, m)
			m.Note(name, chosen, instances)
			got = append(got, chosen[len(chosen)-1:])
		}
		if text := strings.Join(got, ""); text != "001122001122" || !route.Remembers(r) {
			t.Errorf("%s chose %s", r, text)
		}
	}
	if route.Remembers(job.RouteFirst) {
		t.Error("first has no need of a memory")
	}
}

func TestANewcomerDoesNotHaveToCatchUp(t *testing.T) {
	m := &route.Memory{}
	two, three := named("a", "b"), named("a", "b", "c")
	run := route.Run{Route: job.RouteLeastFrequentlyUsed, Job: "g/a"}
	for range 100 {
		m.Note("g/a", first(two, run, m), two)
	}
	counts := map[string]int{}
	for range 30 {
		chosen := first(three, run, m)
		m.Note("g/a", chosen, three)
		counts[chosen]++
	}
	for name, n := range counts {
		if n < 9 || n > 11 {
			t.Errorf("%s got %d of 30", name, n)
		}
	}
}

func TestTheMemoryIsBoundedAndKeepsTheLatest(t *testing.T) {
	m := &route.Memory{}
	instances := named("a", "b")
	run := func(i int) route.Run {
		return route.Run{Route: job.RouteRoundRobin, Job: job.Name(fmt.Sprintf("g/job-%d", i))}
	}
	const jobs = 50_000
	for i := range jobs {
		m.Note(run(i).Job, "a", instances)
	}
	for i := jobs - 10_000; i < jobs; i++ {
		if first(instances, run(i), m) != "b" {
			t.Fatalf("job %d of %d is forgotten", i, jobs)
		}
	}
	if first(instances, run(0), m) != "a" {
		t.Error("the first job is still remembered")
	}
	for i := range 1000 { // instances that came and went
		m.Note("g/a", fmt.Sprintf("gone-%d", i), instances)
	}
	if got := first(instances, route.Run{Route: job.RouteLeastRecentlyUsed, Job: "g/a"}, m); got != "a" {
		t.Errorf("%s is first", got)
	}
}

func TestRandomIsEvenAndAnotherOrderForEachDelivery(t *testing.T) {
	instances := many(10)
	counts := map[string]int{}
	const runs = 10_000
	changed := 0
	for n := range runs {
		r := route.Run{Route: job.RouteRandom, Job: "g/a", ID: runID(n), Delivery: 1}
		chosen := first(instances, r, nil)
		counts[chosen]++
		if r.Delivery = 2; first(instances, r, nil) != chosen {
			changed++
		}
	}
	for name, n := range counts {
		if n < runs/10*8/10 || n > runs/10*12/10 {
			t.Errorf("%s got %d of %d", name, n, runs)
		}
	}
	if changed < runs*8/10 {
		t.Errorf("only %d of %d went elsewhere when delivered again", changed, runs)
	}
}

func TestConsistentHashMovesFewJobsAndSpreadsThemEvenly(t *testing.T) {
	const jobs = 5000
	place := func(instances []route.Instance) []string {
		all := make([]string, jobs)
		for i := range all {
			all[i] = first(instances, route.Run{Route: job.RouteConsistentHash, Job: job.Name(fmt.Sprintf("g/job-%d", i))}, nil)
		}
		return all
	}
	for _, n := range []int{2, 3, 10, 100} {
		full := many(n + 1)
		before := place(full)
		counts := map[string]int{}
		for _, name := range before {
			counts[name]++
		}
		mean := float64(jobs) / float64(n+1)
		for name, got := range counts {
			if math.Abs(float64(got)-mean) > 5*math.Sqrt(mean) {
				t.Errorf("%d instances: %s has %d jobs, the mean is %.0f", n+1, name, got, mean)
			}
		}
		for _, gone := range []int{0, n / 2, n} {
			left := slices.Delete(slices.Clone(full), gone, gone+1)
			for i, now := range place(left) {
				// The same seen the other way round: who joins takes only what is then its own.
				if was := before[i]; was != full[gone].Name && now != was {
					t.Fatalf("%d instances: job %d moved from %s to %s though only %s left", n+1, i, was, now, full[gone].Name)
				}
			}
		}
	}
}

func BenchmarkOrderByHashAmongAHundred(b *testing.B) {
	instances := many(100)
	m := &route.Memory{}
	for b.Loop() {
		for range route.Order(instances, route.Run{Route: job.RouteConsistentHash, Job: "g/job"}, m) {
			break
		}
	}
}
