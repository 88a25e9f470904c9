package job

import (
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Route says which instance of its group a run goes to.
type Route string

// The routes. Those but RouteAny order the live instances for each run; the first of
// them that takes the run gets it. Instances are in order of their names.
const (
	RouteAny                 Route = "any"                   // whichever is free pulls; with labels, the least loaded
	RouteFirst               Route = "first"                 // the first
	RouteLast                Route = "last"                  // the last
	RouteRoundRobin          Route = "round_robin"           // the one after that which had the job's last run
	RouteRandom              Route = "random"                // another order for each delivery of a run
	RouteConsistentHash      Route = "consistent_hash"       // the same for all runs of a job, while it is there
	RouteLeastFrequentlyUsed Route = "least_frequently_used" // the one that had the fewest of the job's runs
	RouteLeastRecentlyUsed   Route = "least_recently_used"   // the one that has not had the job for longest
	RouteFailover            Route = "failover"              // the first that answers that it is alive
	RouteBusyover            Route = "busyover"              // the first that answers that it is idle
	RouteBroadcast           Route = "broadcast"             // every instance
)

// Routes lists every route that a job may have.
var Routes = []Route{
	RouteAny, RouteFirst, RouteLast, RouteRoundRobin, RouteRandom, RouteConsistentHash,
	RouteLeastFrequentlyUsed, RouteLeastRecentlyUsed, RouteFailover, RouteBusyover, RouteBroadcast,
}

func (r Route) validate() error {
	if r == "" || slices.Contains(Routes, r) {
		return nil
	}
	return Invalid("route", "%q must be one of %s", clip.Text(string(r), maxQuoted), routeNames())
}

func routeNames() string {
	names := make([]string, len(Routes))
	for i, r := range Routes {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// Bounds of [Labels].
const (
	MaxLabels     = 32
	MaxLabelValue = 63 // bytes
)

// Labels tell instances apart, such as zone=eu. As a selector they match an instance
// that has all of them. A key is a slug.
type Labels map[string]string

// Match reports whether an instance with the given labels has all of l.
func (l Labels) Match(has Labels) bool {
	for key, value := range l {
		if got, ok := has[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// String returns l as people write it: "gpu=true,zone=eu".
func (l Labels) String() string {
	parts := make([]string, 0, len(l))
	for _, key := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, key+"="+l[key])
	}
	return strings.Join(parts, ",")
}

// ParseLabels reads labels written as KEY=VALUE. Its error holds an *InvalidError for
// each wrong one.
func ParseLabels(texts []string) (Labels, error) {
	var l Labels
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, Invalid("labels", "%q must be KEY=VALUE, for example zone=eu", clip.Text(text, maxQuoted))
		}
		if l == nil {
			l = Labels{}
		}
		l[key] = value
	}
	return l, l.Validate()
}

// Validate reports what is wrong with l, as an *InvalidError for field "labels".
func (l Labels) Validate() error {
	if len(l) > MaxLabels {
		return Invalid("labels", "has %d entries; at most %d are allowed", len(l), MaxLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(l)) {
		value := l[key]
		field := "labels." + clip.Text(key, maxQuoted)
		if !isSlug(key) {
			return Invalid("labels", "has the key %q, which must be 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit", clip.Text(key, maxQuoted))
		}
		if value == "" || len(value) > MaxLabelValue || !isLabelValue(value) {
			return Invalid(field, "%q must have 1 to %d letters, digits, '-', '_', '.', '/' and ':'", clip.Text(value, maxQuoted), MaxLabelValue)
		}
	}
	return nil
}

func isLabelValue(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_./:", c) >= 0:
		default:
			return false
		}
	}
	return true
}
