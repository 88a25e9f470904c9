package runlog

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
	ByReason   Dimension = "reason" // facets only, and only where asked for: why a run did not run or how it ended
)

// Dimensions are those that people choose from, in the order in which they look at them.
var Dimensions = []Dimension{ByStatus, ByCause, ByGroup, ByJob, ByVersion, ByInstance}

// Facets are the values of some dimensions, those with the most fires first.
type Facets map[Dimension][]FacetValue

// FacetValue is a value and how many fires have it.
type FacetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}
