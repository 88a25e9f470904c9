//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// load is jobs that fire at a rate, from when they are saved until an instant,
// inclusive. What their runs do is write into the journal, and more by their kind.
type load struct {
	group string
	jobs  int
	rate  time.Duration  // how often each job fires
	until time.Time      // on the rate
	since []time.Time    // by number, from when the job's first version holds; zero: not saved
	kinds func(int) kind // by number
}

func newLoad(group string, jobs int, rate time.Duration, until time.Time, kinds func(int) kind) *load {
	return &load{group: group, jobs: jobs, rate: rate, until: until.UTC().Truncate(rate), since: make([]time.Time, jobs), kinds: kinds}
}

// Last digits of jobs: of those that are edited while they fire, and of those that
// are saved while there are faults.
const (
	edited = 4
	young  = 5
)

func (l *load) name(i int) job.Name { return job.Name(fmt.Sprintf("%s/job-%03d", l.group, i)) }

// number is the inverse of name; -1 for jobs that run after others.
func (l *load) number(name job.Name) int {
	var i int
	if _, err := fmt.Sscanf(name.Short(), "job-%d", &i); err != nil || l.name(i) != name {
		return -1
	}
	return i
}

// kind returns the kind of a job by its name. Those that run after others are plain.
func (l *load) kind(name job.Name) kind { return l.kinds(max(l.number(name), 0)) }

// family returns all jobs of number i: first those that run after it.
func (l *load) family(i int) (all []job.Job) {
	if k := l.kinds(i); k.after != nil {
		all = k.after(l.name(i))
	}
	return append(all, l.document(i))
}

// document returns job number i.
func (l *load) document(i int) job.Job {
	j := job.Job{
		Job:      l.name(i),
		Schedule: job.Schedule{FixedRate: job.Duration(l.rate), Until: &l.until},
		// Nothing may be missed, however long the faults keep all from firing.
		Misfire: job.Misfire{Policy: job.FireAll, MaxCount: job.MaxMaxCount, MaxAge: job.Duration(24 * time.Hour)},
		Task:    job.Task{Shell: write},
	}
	if k := l.kinds(i); k.make != nil {
		k.make(&j)
	}
	return j
}

// save saves the jobs that are to fire from the beginning through the API.
func (l *load) save(t *testing.T, api *client.API) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(8)
	for i := range l.jobs {
		if i%10 != young {
			g.Go(func() error {
				return processtest.Within(processtest.Patience, func() error { return l.add(t.Context(), api, i) }) // a busy machine may not answer in time
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatalf("save jobs: %v", err)
	}
}

// add saves job number i, with those that run after it. It may be called again when it
// is not known what became of it.
func (l *load) add(ctx context.Context, api *client.API, i int) error {
	for _, j := range l.family(i) { // its own last, so that none of its runs goes without
		saved, err := l.put(ctx, api, j)
		if err != nil {
			return err
		}
		if j.Job == l.name(i) {
			l.since[i] = saved.Definition.EffectiveFrom
		}
	}
	return nil
}

// saveYoung saves the first of the young jobs that is not known to be saved. It returns
// false when there is none.
func (l *load) saveYoung(ctx context.Context, api *client.API) (bool, error) {
	for i := young; i < l.jobs; i += 10 {
		if l.since[i].IsZero() {
			return true, l.add(ctx, api, i)
		}
	}
	return false, nil
}

func (l *load) put(ctx context.Context, api *client.API, j job.Job) (client.PutJobResult, error) {
	body, err := json.Marshal(j)
	if err != nil {
		return client.PutJobResult{}, err
	}
	return client.Read[client.PutJobResult](api.PutJobWithBody(ctx, l.group, j.Job.Short(), &client.PutJobParams{}, "application/json", bytes.NewReader(body)))
}

// edit saves a young job, or another version of one of the jobs that are edited, which
// fires at other instants.
func (l *load) edit(ctx context.Context, api *client.API, r *rand.Rand) error {
	if r.IntN(2) == 0 {
		if some, err := l.saveYoung(ctx, api); some {
			return err
		}
	}
	j := l.document(r.IntN(l.jobs/10)*10 + edited)
	j.Description = fmt.Sprintf("edited at %s", time.Now())
	anchor := time.UnixMilli(r.Int64N(l.rate.Milliseconds())).UTC()
	j.Schedule.Anchor = &anchor
	_, err := l.put(ctx, api, j)
	return err
}

// fires returns what the jobs owe that are not edited: by job, the instants at which it
// had to fire. They follow from the schedule alone.
func (l *load) fires() map[job.Name][]time.Time {
	owed := map[job.Name][]time.Time{}
	for i := range l.jobs {
		if i%10 == edited {
			continue
		}
		for at := l.since[i].Truncate(l.rate).Add(l.rate); !at.After(l.until); at = at.Add(l.rate) {
			owed[l.name(i)] = append(owed[l.name(i)], at)
		}
	}
	return owed
}
