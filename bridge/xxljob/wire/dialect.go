package wire

// Dialect is a variant of the protocol. The zero value is not known yet.
type Dialect string

// The dialects, by the versions of XXL-JOB that speak them.
const (
	DialectA Dialect = "A" // 2.2 to 3.2, and the Go client
	DialectB Dialect = "B" // 3.3 and 3.4
	DialectC Dialect = "C" // from 3.5
)

// Headers of a request, in both directions. HeaderAppName is of dialect C.
const (
	HeaderToken   = "XXL-JOB-ACCESS-TOKEN" //nolint:gosec // the name of a header
	HeaderAppName = "XXL-JOB-APPNAME"
)

// Paths at an executor. Which of the two paths starts a run depends on the dialect.
const (
	PathBeat     = "/beat"
	PathIdleBeat = "/idleBeat"
	PathKill     = "/kill"
	PathLog      = "/log"

	pathRun     = "/run"
	pathTrigger = "/trigger"
)

// RunPath returns where an executor of the dialect takes runs.
func (d Dialect) RunPath() string {
	if d == DialectC {
		return pathTrigger
	}
	return pathRun
}

// Other returns a dialect with another path for runs.
func (d Dialect) Other() Dialect {
	if d == DialectC {
		return DialectA
	}
	return DialectC
}

// Versions returns which versions of XXL-JOB speak the dialect, for people; "" while it is not known.
func (d Dialect) Versions() string {
	switch d {
	case DialectA:
		return "2.2-3.2"
	case DialectB:
		return "3.3-3.4"
	case DialectC:
		return "3.5+"
	}
	return ""
}

// SDK returns how an executor of the dialect is shown, such as xxl-job/A.
func (d Dialect) SDK() string {
	if d == "" {
		return "xxl-job"
	}
	return "xxl-job/" + string(d)
}
