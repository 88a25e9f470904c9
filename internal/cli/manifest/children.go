package manifest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// family knows jobs as they will be once documents are saved: theirs, and those that
// they name. The server compares each document with what it has by now, and so it
// notices only while they are saved that two of them lead back to each other.
type family struct {
	docs  map[job.Name]job.Job
	other map[job.Name]*job.Job // of the server; nil for one that it does not have
}

// familyOf reads the jobs that the documents' jobs lead to, which are on the server.
func (p planner) familyOf(ctx context.Context, docs []manifest.Document) (*family, error) {
	f := &family{docs: map[job.Name]job.Job{}, other: map[job.Name]*job.Job{}}
	for i := range docs {
		if docs[i].Kind != manifest.Job {
			continue
		}
		j, err := job.Decode(docs[i].JSON)
		if err != nil {
			return nil, err
		}
		j.Job = job.Name(docs[i].Name)
		f.docs[j.Job] = j
	}
	next := map[job.Name]bool{}
	for _, j := range f.docs {
		f.lacks(next, j.Followers())
	}
	for len(next) > 0 { // a generation each
		found, err := p.jobs(ctx, next)
		if err != nil {
			return nil, err
		}
		next = map[job.Name]bool{}
		maps.Copy(f.other, found)
		for _, j := range found {
			if j != nil {
				f.lacks(next, j.Followers())
			}
		}
	}
	return f, nil
}

// lacks adds to names those of followers that f does not know yet.
func (f *family) lacks(names map[job.Name]bool, followers []job.Name) {
	for _, name := range followers {
		_, inDocs := f.docs[name]
		_, asked := f.other[name]
		if !inDocs && !asked {
			names[name] = true
		}
	}
}

// jobs asks for jobs. One that does not exist, or that the caller may not see, is nil.
func (p planner) jobs(ctx context.Context, names map[job.Name]bool) (map[job.Name]*job.Job, error) {
	found := make([]*job.Job, len(names))
	list := make([]job.Name, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requestsAtOnce)
	for i, name := range list {
		g.Go(func() error {
			item, err := client.Read[client.JobItem](p.api.GetJob(ctx, name.Group(), name.Short(), nil))
			if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status == http.StatusForbidden {
				return nil
			}
			switch {
			case errors.Is(err, job.ErrNotFound):
				return nil
			case err != nil:
				return err
			}
			found[i] = &item.Definition.Job
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	m := make(map[job.Name]*job.Job, len(list))
	for i, name := range list {
		m[name] = found[i]
	}
	return m, nil
}

// followers returns those that a job will have.
func (f *family) followers(name job.Name) []job.Name {
	if j, ok := f.docs[name]; ok {
		return j.Followers()
	}
	if j := f.other[name]; j != nil {
		return j.Followers()
	}
	return nil
}

// cycles returns a problem for each document whose job would lead back to itself.
func (f *family) cycles(docs []manifest.Document) error {
	var problems []error
	for i := range docs {
		if docs[i].Kind != manifest.Job {
			continue
		}
		if err := f.docs[job.Name(docs[i].Name)].RefuseCycle(f.followers); err != nil {
			problems = append(problems, located(&docs[i], err))
		}
	}
	return errors.Join(problems...)
}

// warnings returns those of the server about a document, without those about a name that one of the other
// documents has: it will be known.
func (f *family) warnings(server []client.FieldError) []client.FieldError {
	return slices.DeleteFunc(slices.Clone(server), f.settles)
}

// settles reports whether a warning is about a job, or a group, that the documents have.
func (f *family) settles(w client.FieldError) bool {
	switch said := reason.Read(string(w.Reason)); said.Code {
	case "job_unknown", "child_unknown":
		_, ok := f.docs[job.Name(said.Params["job"])]
		return ok
	case "group_unknown":
		for name := range f.docs {
			if name.Group() == said.Params["group"] {
				return true
			}
		}
	}
	return false
}
