package logstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of facets and histograms.
const (
	DefaultFacetValues = 20
	MaxFacetValues     = 1000
	MaxParts           = 1000
)

// FacetFilter asks what there is among the runs that match.
type FacetFilter struct {
	RunFilter

	By     []runlog.Dimension // defaults to runlog.Dimensions; reasons can be asked for besides
	Values int                // of each dimension, the most frequent: from 1 to MaxFacetValues; defaults to DefaultFacetValues
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *FacetFilter) Validate() error {
	for _, d := range f.By {
		if d != runlog.ByReason && !slices.Contains(runlog.Dimensions, d) {
			return job.Invalid("by", "%q must be one of %v", d, runlog.Dimensions)
		}
	}
	if f.Values < 0 || f.Values > MaxFacetValues {
		return job.Invalid("values", "must be from 1 to %d", MaxFacetValues)
	}
	return f.RunFilter.Validate()
}

// WithDefaults returns f with what is not set at its default, and without what facets
// ignore.
func (f FacetFilter) WithDefaults() FacetFilter {
	if len(f.By) == 0 {
		f.By = runlog.Dimensions
	}
	f.Values = cmp.Or(f.Values, DefaultFacetValues)
	f.Limit, f.Cursor = 0, ""
	return f
}

// Apart returns f without what it says of one dimension, and whether that was
// anything. Groups stays: it says what may be seen at all.
func (f RunFilter) Apart(d runlog.Dimension) (_ RunFilter, narrowed bool) {
	switch d {
	case runlog.ByStatus:
		narrowed, f.Statuses = len(f.Statuses) > 0, nil
	case runlog.ByCause:
		narrowed, f.Causes = len(f.Causes) > 0, nil
	case runlog.ByGroup:
		narrowed, f.Group = f.Group != "", ""
	case runlog.ByJob:
		narrowed, f.Jobs = len(f.Jobs) > 0, nil
	case runlog.ByVersion:
		narrowed, f.Version = f.Version != 0, 0
	case runlog.ByInstance:
		narrowed, f.Instance = f.Instance != "", ""
	case runlog.ByReason: // no filter speaks of reasons
	}
	return f, narrowed
}

// CompareFacets is the order of the values of a dimension.
func CompareFacets(a, b runlog.FacetValue) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

// Histogram is how many fires of each part of a range have each status.
type Histogram struct {
	All       []map[job.Status]int // by part
	Scheduled []map[job.Status]int // the same, only for runs that a schedule asked for
}

// NewHistogram returns one of so many parts without any fires.
func NewHistogram(parts int) Histogram {
	h := Histogram{make([]map[job.Status]int, parts), make([]map[job.Status]int, parts)}
	for i := range parts {
		h.All[i], h.Scheduled[i] = map[job.Status]int{}, map[job.Status]int{}
	}
	return h
}

// Add adds fires of one part that have a status.
func (h *Histogram) Add(part int, s job.Status, scheduled bool, n int) {
	h.All[part][s] += n
	if scheduled {
		h.Scheduled[part][s] += n
	}
}

// CheckHistogram returns an *InvalidError when f's range cannot have so many parts.
func (f *RunFilter) CheckHistogram(parts int) error {
	switch {
	case f.From.IsZero():
		return job.Invalid("from", "is missing")
	case f.To.IsZero():
		return job.Invalid("to", "is missing")
	case parts < 1 || parts > MaxParts:
		return job.Invalid("parts", "must be from 1 to %d", MaxParts)
	case f.To.Sub(f.From) < time.Duration(parts)*time.Millisecond:
		return job.Invalid("to", "must lie at least %d ms after from, one for each part", parts)
	}
	return f.Validate()
}
