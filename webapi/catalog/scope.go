package catalog

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// maxScope is how many jobs a scope may name; the contract states it.
const maxScope = 1500

// Of says which jobs a report covers: those of a group, an owner and a tag. What is empty is any.
type Of struct{ Group, Owner, Tag string }

// Scope is the jobs that a report covers.
type Scope struct {
	Jobs int // how many the caller sees now
	// Names are the jobs of an owner or a tag. It is nil without those: the report then covers
	// jobs that were deleted, too.
	Names   []job.Name
	Targets map[job.Name]*job.Target // of those jobs that have one
}

// Scope returns the jobs that a report covers. Errors: job.ErrInvalid for an owner or a tag that no
// job has, or that too many have.
func (s *Search) Scope(ctx context.Context, of Of) (Scope, error) {
	scope := Scope{Targets: map[job.Name]*job.Target{}}
	if of.Group != "" {
		if err := job.CheckSlug("group", of.Group); err != nil {
			return scope, err
		}
	}
	copies, err := s.index.copies(ctx, query{group: of.Group})
	if err != nil {
		return scope, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	for i := range copies {
		j := &copies[i]
		if of.Owner != "" && j.owner != of.Owner || of.Tag != "" && !slices.Contains(j.tags, of.Tag) {
			continue
		}
		scope.Jobs++
		if of.Owner != "" || of.Tag != "" {
			scope.Names = append(scope.Names, j.name)
		}
		if j.target != nil {
			scope.Targets[j.name] = j.target
		}
	}
	switch {
	case len(scope.Names) > maxScope:
		field := "owner"
		if of.Owner == "" {
			field = "tag"
		}
		return scope, job.Invalid(field, "%s", refusal.TooManyReported.With(scope.Jobs, maxScope))
	case scope.Jobs > 0:
	case of.Owner != "":
		return scope, job.Invalid("owner", "%s", refusal.NoJobOfOwner.With(of.Owner))
	case of.Tag != "":
		return scope, job.Invalid("tag", "%s", refusal.NoJobWithTag.With(of.Tag))
	}
	return scope, nil
}

// Within returns the jobs that lists and reports of runs are narrowed to: those of an owner or a tag,
// of those that a request names if it names any. It returns the named ones without either. Errors: as
// those of Scope, and job.ErrInvalid if none is left.
func (s *Search) Within(ctx context.Context, of Of, named []job.Name) ([]job.Name, error) {
	if of.Owner == "" && of.Tag == "" {
		return named, nil
	}
	scope, err := s.Scope(ctx, of)
	if err != nil || len(named) == 0 {
		return scope.Names, err
	}
	left := slices.DeleteFunc(scope.Names, func(n job.Name) bool { return !slices.Contains(named, n) })
	if len(left) == 0 {
		return nil, job.Invalid("job", "none of the jobs has this owner and tag")
	}
	return left, nil
}

// narrow narrows a query to the jobs of an owner or a tag.
func (s *Search) narrow(ctx context.Context, q *query, of Of) error {
	names, err := s.Within(ctx, of, nil)
	if err != nil || names == nil {
		return err
	}
	q.jobs = map[job.Name]bool{}
	for _, name := range names {
		q.jobs[name] = true
	}
	return nil
}
