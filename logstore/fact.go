package logstore

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
)

// FactKind says what a [Fact] is about.
type FactKind string

// The kinds of facts. The words in a fact's columns depend on it:
//
//	            who              what       object     state
//	audit       user             operation  object     result
//	incident    who acknowledged rule       subject    state
//	delivery    sending node     kind       channel    state
//	discrepancy                  job        job
const (
	FactAudit       FactKind = "audit"       // a change that somebody made; its fact is the entry of the audit log
	FactIncident    FactKind = "incident"    // what a rule of alerts has found
	FactDelivery    FactKind = "delivery"    // a message about an incident to one channel
	FactDiscrepancy FactKind = "discrepancy" // of the ledger; its instant is the fire time
)

// FactKinds lists all kinds.
var FactKinds = []FactKind{FactAudit, FactIncident, FactDelivery, FactDiscrepancy}

// Fact is something that happened and is not about one attempt of a run. (Kind, At, ID)
// names it, so At never changes; of several versions the one with the greatest Revision
// is kept, and of equal ones the last that was written.
type Fact struct {
	Kind     FactKind
	ID       string // lower-case letters, digits and dashes
	At       time.Time
	Revision int64
	Group    string // executor group; empty when it concerns several, or none
	Who      string
	What     string
	Object   string
	State    string
	Doc      json.RawMessage // all of it, as the bus had it
}

// maxFactDoc bounds Doc, in bytes. A message of the bus is not larger.
const maxFactDoc = 1 << 20

var factID = regexp.MustCompile(`^[a-z0-9-]{1,128}$`)

// Validate returns an *InvalidError for what a store cannot hold.
func (f *Fact) Validate() error {
	switch {
	case !slices.Contains(FactKinds, f.Kind):
		return &job.InvalidError{Field: "kind", Reason: fmt.Sprintf("%q must be one of %v", f.Kind, FactKinds)}
	case !factID.MatchString(f.ID):
		return &job.InvalidError{Field: "id", Reason: fmt.Sprintf("%.130q must be lower-case letters, digits and dashes, at most 128", f.ID)}
	case f.At.UnixMilli() <= 0:
		return &job.InvalidError{Field: "at", Reason: "must be an instant after 1970"}
	case f.Revision < 1:
		return &job.InvalidError{Field: "revision", Reason: "must be 1 or more"}
	case len(f.Doc) > maxFactDoc || !json.Valid(f.Doc):
		return &job.InvalidError{Field: "doc", Reason: fmt.Sprintf("must be JSON of at most %d bytes", maxFactDoc)}
	}
	for _, text := range []string{f.Group, f.Who, f.What, f.Object, f.State} {
		if !utf8.ValidString(text) {
			return &job.InvalidError{Field: "doc", Reason: "must be UTF-8"}
		}
	}
	return nil
}

// cursor names the fact's place in the order of lists.
func (f *Fact) cursor() string { return FactCursor{f.At, f.ID}.String() }

// FactCursor is where a page of facts ended: (At, ID) is the order of lists, the newest
// first.
type FactCursor struct {
	At time.Time
	ID string
}

func (c FactCursor) String() string { return strconv.FormatInt(c.At.UnixMilli(), 10) + "." + c.ID }

// After reports whether a fact comes after the cursor, on a later page.
func (c FactCursor) After(at time.Time, id string) bool {
	if d := at.UnixMilli() - c.At.UnixMilli(); d != 0 {
		return d < 0
	}
	return id < c.ID
}

// ParseFactCursor reads what String wrote. The error is an *InvalidError.
func ParseFactCursor(s string) (FactCursor, error) {
	at, id, found := strings.Cut(s, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil || ms <= 0 || !factID.MatchString(id) {
		return FactCursor{}, &job.InvalidError{Field: "cursor", Reason: "must be the value of next from the previous page"}
	}
	return FactCursor{time.UnixMilli(ms).UTC(), id}, nil
}

// MaxFacts bounds a page.
const MaxFacts = 1000

// FactFilter selects facts of one kind, which is needed. Each other field that is set
// must hold.
type FactFilter struct {
	Kind             FactKind
	ID               string
	Who, What, State string
	Object           string // a part of it
	// Job is whose changes are in the audit log, alone or together with other jobs.
	Job      job.Name
	Group    string
	Groups   []string  // as of a [RunFilter]; nil is all, and those of none
	From, To time.Time // in [From, To)
	Cursor   string    // where the page before ended
	Limit    int       // from 1 to MaxFacts; zero is 100
}

// OfJob returns what the object of a change of Job alone is, and what the document of one of many jobs
// has in it.
func (f *FactFilter) OfJob() (object, field string) {
	return "job " + string(f.Job), `"field":"` + string(f.Job) + `"`
}

// WithDefaults returns f with what was left out.
func (f FactFilter) WithDefaults() FactFilter {
	if f.Limit == 0 {
		f.Limit = 100
	}
	return f
}

// Validate returns an *InvalidError for the field that is wrong.
func (f *FactFilter) Validate() error {
	if !slices.Contains(FactKinds, f.Kind) {
		return &job.InvalidError{Field: "kind", Reason: fmt.Sprintf("%q must be one of %v", f.Kind, FactKinds)}
	}
	if f.Limit < 0 || f.Limit > MaxFacts {
		return &job.InvalidError{Field: "limit", Reason: fmt.Sprintf("must be from 1 to %d", MaxFacts)}
	}
	if f.Cursor != "" {
		_, err := ParseFactCursor(f.Cursor)
		return err
	}
	return nil
}

// FactPage is a page of facts, the newest first.
type FactPage struct {
	Facts []Fact
	Next  string // empty on the last page
}

// Paged returns the page of facts that were read with one more than the limit.
func (f *FactFilter) Paged(facts []Fact) FactPage {
	page := FactPage{Facts: facts}
	if len(facts) > f.Limit {
		page.Facts = facts[:f.Limit]
		page.Next = facts[f.Limit-1].cursor()
	}
	return page
}

// KeepFacts returns how long a retention keeps facts of a kind.
func KeepFacts(r *job.Retention, kind FactKind) time.Duration {
	keep := r.Facts.WithDefaults()
	switch kind {
	case FactAudit:
		return keep.Audit.Std()
	case FactDiscrepancy:
		return keep.Discrepancies.Std()
	case FactIncident, FactDelivery:
	}
	return keep.Alerts.Std()
}
