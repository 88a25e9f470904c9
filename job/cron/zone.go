package cron

import (
	"math"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Zone is a time zone as a list of periods of constant offset from UTC, from 1970 to
// 2125. It is safe for concurrent use.
type Zone struct {
	location *time.Location
	periods  []period // at least one; the first reaches back for ever, the last onward
	recent   atomic.Int64
}

// period is a time during which a zone's clocks are not moved.
type period struct {
	start  int64 // Unix seconds
	offset int64 // seconds east of UTC
}

// maxZoneName is far above the longest IANA name (32 bytes).
const maxZoneName = 64

// zones caches what LoadZone has made: name to *Zone. There are about 600 names.
var zones sync.Map

// LoadZone returns the zone with an IANA name such as "Europe/London"; "" is UTC.
// Asking for a name again returns the same *Zone. "Local" is refused, since it means
// something else on every machine. The error is a *[ParseError].
func LoadZone(name string) (*Zone, error) {
	if name == "" {
		name = "UTC"
	}
	if z, ok := zones.Load(name); ok {
		return z.(*Zone), nil
	}
	if name == "Local" {
		return nil, &ParseError{"zone", name, `must be an IANA name such as "Europe/London"; Local differs between machines`}
	}
	// A name becomes a path, and each spelling of it an entry of the cache.
	if len(name) > maxZoneName || path.Clean(name) != name || strings.ContainsAny(name, `\:`) {
		return nil, &ParseError{"zone", clip.Text(name, maxQuoted), `must be an IANA name such as "Europe/London"`}
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, &ParseError{"zone", name, `is not known; must be an IANA name such as "Europe/London"`}
	}
	z, _ := zones.LoadOrStore(name, newZone(location))
	return z.(*Zone), nil
}

// Location returns the zone in the standard library's form, for formatting.
func (z *Zone) Location() *time.Location { return z.location }

// String returns the zone's name.
func (z *Zone) String() string { return z.location.String() }

// newZone walks through a location's transitions and notes where the offset changes.
func newZone(location *time.Location) *Zone {
	z := &Zone{location: location}
	t := time.Date(minYear-1, time.December, 1, 0, 0, 0, 0, time.UTC)
	limit := time.Date(maxYear+1, time.January, 2, 0, 0, 0, 0, time.UTC)
	for t.Before(limit) {
		local := t.In(location)
		_, seconds := local.Zone()
		offset := int64(seconds)
		if n := len(z.periods); n == 0 {
			z.periods = append(z.periods, period{math.MinInt64, offset})
		} else if z.periods[n-1].offset != offset {
			z.periods = append(z.periods, period{t.Unix(), offset})
		}
		_, end := local.ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) {
			// Go ends the last period of a leap year a day early, where the zone's
			// rule and not its table applies, and then stands still.
			end = t.Add(24 * time.Hour)
		}
		t = end
	}
	return z
}

// at returns the index of the period that holds the instant t. Callers nearly always
// ask about the present, so it looks first where it looked last.
func (z *Zone) at(t int64) int {
	if i := int(z.recent.Load()); t >= z.periods[i].start && t < z.end(i) {
		return i
	}
	i := z.search(t)
	z.recent.Store(int64(i))
	return i
}

// search is at without the memory.
func (z *Zone) search(t int64) int {
	low, high := 0, len(z.periods)
	for high-low > 1 {
		middle := (low + high) / 2
		if z.periods[middle].start <= t {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
