package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Store is a log store whose history can be copied, or be a copy.
type Store interface {
	logstore.Store
	// CountLines returns how many lines the runs have that fired on a day, in UTC, each once.
	CountLines(ctx context.Context, day time.Time) (int64, error)
}

// Target is a store that remembers which store it is a copy of.
type Target interface {
	Store
	// Origin returns the identity of that store; it is empty for no copy.
	Origin(ctx context.Context) (string, error)
	// SetOrigin makes the store a copy.
	SetOrigin(ctx context.Context, identity string) error
}

// Sides are how many the source has of something, and the target.
type Sides struct {
	Source int64 `json:"source"`
	Target int64 `json:"target"`
}

// Equal reports whether both have as many.
func (s Sides) Equal() bool { return s.Source == s.Target }

// Day is what two stores have of the runs that fired on a day, in UTC.
type Day struct {
	Day   time.Time `json:"day"`
	Runs  Sides     `json:"runs"` // fires, in all attempts
	Lines Sides     `json:"lines"`
	Equal bool      `json:"equal"` // as many runs in each status, and as many lines
}

// Facts is how many facts of a kind two stores have.
type Facts struct {
	Kind  logstore.FactKind `json:"kind"`
	Facts Sides             `json:"facts"`
}

// Result is the comparison at the end of a copy.
type Result struct {
	Days  []Day   `json:"days"` // that have runs or lines
	Facts []Facts `json:"facts"`
}

// Equal reports whether nothing differs.
func (r *Result) Equal() bool {
	return !slices.ContainsFunc(r.Days, func(d Day) bool { return !d.Equal }) &&
		!slices.ContainsFunc(r.Facts, func(f Facts) bool { return !f.Facts.Equal() })
}

// Copy copies the history of one store to another, and compares them. It tells after each day how
// many of how many days are done. The error is job.ErrConflict for a target with a history that is
// no copy of this source's. Nobody else may write to either store.
func Copy(ctx context.Context, from Store, to Target, tell func(done, days int)) (*Result, error) {
	c := copier{from: from, to: to}
	if err := c.begin(ctx, to); err != nil {
		return nil, err
	}
	days, err := daysOf(ctx, from)
	if err != nil {
		return nil, err
	}
	if err := c.facts(ctx); err != nil {
		return nil, err
	}
	for i, day := range days {
		if err := c.day(ctx, day); err != nil {
			return nil, fmt.Errorf("copy %s: %w", day.Format(time.DateOnly), err)
		}
		tell(i+1, len(days))
	}
	return compare(ctx, from, to, days)
}

// isEmpty reports whether a store has neither runs nor facts.
func isEmpty(ctx context.Context, s Store) (bool, error) {
	page, err := s.Runs(ctx, logstore.RunFilter{Limit: 1})
	if err != nil || len(page.Runs) > 0 {
		return false, err
	}
	for _, kind := range logstore.FactKinds {
		page, err := s.Facts(ctx, logstore.FactFilter{Kind: kind, Limit: 1})
		if err != nil || len(page.Facts) > 0 {
			return false, err
		}
	}
	return true, nil
}

// daysOf returns the days from the oldest run to the newest.
func daysOf(ctx context.Context, s Store) (days []time.Time, err error) {
	newest, err := s.Runs(ctx, logstore.RunFilter{Limit: 1})
	if err != nil || len(newest.Runs) == 0 {
		return nil, err
	}
	stats, err := s.Stats(ctx)
	if err != nil {
		return nil, err
	}
	for day := stats.OldestRun.UTC().Truncate(logstore.Day); !day.After(newest.Runs[0].FireTime); day = day.Add(logstore.Day) {
		days = append(days, day)
	}
	return days, nil
}

// compare returns what both stores have.
func compare(ctx context.Context, from, to Store, days []time.Time) (*Result, error) {
	var result Result
	for _, at := range days {
		day, err := compareRuns(ctx, from, to, at)
		if err != nil {
			return nil, err
		}
		if day.Lines.Source, err = from.CountLines(ctx, at); err != nil {
			return nil, err
		}
		if day.Lines.Target, err = to.CountLines(ctx, at); err != nil {
			return nil, err
		}
		day.Equal = day.Equal && day.Lines.Equal()
		if !day.Equal || day.Runs.Source > 0 || day.Lines.Source > 0 {
			result.Days = append(result.Days, day)
		}
	}
	for _, kind := range logstore.FactKinds {
		facts := Facts{Kind: kind}
		var err error
		if facts.Facts.Source, err = countFacts(ctx, from, kind); err != nil {
			return nil, err
		}
		if facts.Facts.Target, err = countFacts(ctx, to, kind); err != nil {
			return nil, err
		}
		if facts.Facts != (Sides{}) {
			result.Facts = append(result.Facts, facts)
		}
	}
	return &result, nil
}

// compareRuns compares the runs of a day, and no lines.
func compareRuns(ctx context.Context, from, to Store, at time.Time) (Day, error) {
	day := Day{Day: at}
	filter := logstore.RunFilter{AllAttempts: true, From: at, To: at.Add(logstore.Day)}
	source, err := from.Counts(ctx, filter)
	if err != nil {
		return day, err
	}
	target, err := to.Counts(ctx, filter)
	if err != nil {
		return day, err
	}
	day.Runs, day.Equal = Sides{total(source), total(target)}, maps.Equal(source, target)
	return day, nil
}

func total(counts map[job.Status]int) (n int64) {
	for _, of := range counts {
		n += int64(of)
	}
	return n
}

func countFacts(ctx context.Context, s Store, kind logstore.FactKind) (n int64, err error) {
	err = eachFacts(ctx, s, kind, func(facts []logstore.Fact) error {
		n += int64(len(facts))
		return nil
	})
	return n, err
}

// eachFacts calls do with the pages of a kind of facts.
func eachFacts(ctx context.Context, s Store, kind logstore.FactKind, do func(facts []logstore.Fact) error) error {
	filter := logstore.FactFilter{Kind: kind, Limit: logstore.MaxFacts}
	for {
		page, err := s.Facts(ctx, filter)
		if err != nil {
			return err
		}
		if err := do(page.Facts); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
		filter.Cursor = page.Next
	}
}
