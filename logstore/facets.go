package logstore

import (
	"cmp"
	"slices"
	"time"
)

// Bounds of facets and histograms.
const (
	DefaultFacetValues = 20
	MaxFacetValues     = 1000
	MaxParts           = 1000
)

// Dimension is what runs are told apart by.
type Dimension string

// The dimensions of facets and reports.
const (
	ByStatus   Dimension = "status" // facets only
	ByCause    Dimension = "cause"  // facets only
	ByGroup    Dimension = "group"
	ByJob      Dimension = "job"
	ByVersion  Dimension = "version"
	ByInstance Dimension = "instance"
)

// Dimensions are all of them, in the order in which people look at them.
var Dimensions = []Dimension{ByStatus, ByCause, ByGroup, ByJob, ByVersion, ByInstance}

// FacetFilter asks what there is among the runs that match.
type FacetFilter struct {
	RunFilter

	By     []Dimension // defaults to all
	Values int         // of each dimension, the most frequent: from 1 to MaxFacetValues; defaults to DefaultFacetValues
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *FacetFilter) Validate() error {
	for _, d := range f.By {
		if !slices.Contains(Dimensions, d) {
			return invalid("by", "%q must be one of %v", d, Dimensions)
		}
	}
	if f.Values < 0 || f.Values > MaxFacetValues {
		return invalid("values", "must be from 1 to %d", MaxFacetValues)
	}
	return f.RunFilter.Validate()
}

// WithDefaults returns f with what is not set at its default, and without what facets
// ignore.
func (f FacetFilter) WithDefaults() FacetFilter {
	if len(f.By) == 0 {
		f.By = Dimensions
	}
	f.Values = cmp.Or(f.Values, DefaultFacetValues)
	f.Limit, f.Cursor = 0, ""
	return f
}

// Apart returns f without what it says of one dimension, and whether that was
// anything. Groups stays: it says what may be seen at all.
func (f RunFilter) Apart(d Dimension) (_ RunFilter, narrowed bool) {
	switch d {
	case ByStatus:
		narrowed, f.Statuses = len(f.Statuses) > 0, nil
	case ByCause:
		narrowed, f.Causes = len(f.Causes) > 0, nil
	case ByGroup:
		narrowed, f.Group = f.Group != "", ""
	case ByJob:
		narrowed, f.Jobs = len(f.Jobs) > 0, nil
	case ByVersion:
		narrowed, f.Version = f.Version != 0, 0
	case ByInstance:
		narrowed, f.Instance = f.Instance != "", ""
	}
	return f, narrowed
}

// Facets are the values of some dimensions, those with the most fires first.
type Facets map[Dimension][]FacetValue

// FacetValue is a value and how many fires have it.
type FacetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// CompareFacets is the order of the values of a dimension.
func CompareFacets(a, b FacetValue) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

// CheckHistogram returns an *InvalidError when f's range cannot have so many parts.
func (f *RunFilter) CheckHistogram(parts int) error {
	switch {
	case f.From.IsZero():
		return invalid("from", "is missing")
	case f.To.IsZero():
		return invalid("to", "is missing")
	case parts < 1 || parts > MaxParts:
		return invalid("parts", "must be from 1 to %d", MaxParts)
	case f.To.Sub(f.From) < time.Duration(parts)*time.Millisecond:
		return invalid("to", "must lie at least %d ms after from, one for each part", parts)
	}
	return f.Validate()
}
