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

	"carillon/internal/client"
	"carillon/job"
)

// load is jobs that fire every second, from when they are saved until an instant,
// inclusive. What their runs do is write into the journal. Each tenth job also prints a
// line, takes a while, may be done at most once, or is edited now and then.
type load struct {
	group string
	jobs  int
	until time.Time
	since []time.Time // by number, from when the job's first version holds; zero: not saved
}

func newLoad(group string, jobs int, until time.Time) *load {
	return &load{group: group, jobs: jobs, until: until, since: make([]time.Time, jobs)}
}

// rate is how often each job fires.
const rate = time.Second

// isPrinting, isSlow and isOnce tell the kinds of job by their number.
func isPrinting(i int) bool { return i%10 == 1 }
func isSlow(i int) bool     { return i%10 == 2 }
func isOnce(i int) bool     { return i%10 == 3 }

// Last digits of jobs: of those that are edited while they fire, and of those that
// are saved while there are faults.
const (
	edited = 4
	young  = 5
)

func (l *load) name(i int) job.Name { return job.Name(fmt.Sprintf("%s/job-%03d", l.group, i)) }

// number is the inverse of name.
func (l *load) number(name job.Name) int {
	var i int
	if _, err := fmt.Sscanf(name.Short(), "job-%d", &i); err != nil {
		return -1
	}
	return i
}

// document returns job number i.
func (l *load) document(i int) job.Job {
	j := job.Job{
		Job:      l.name(i),
		Schedule: job.Schedule{FixedRate: job.Duration(rate), Until: &l.until},
		// Nothing may be missed, however long the faults keep all from firing.
		Misfire: job.Misfire{Policy: job.FireAll, MaxCount: job.MaxMaxCount, MaxAge: job.Duration(24 * time.Hour)},
		Task:    job.Task{Shell: `echo "$CARILLON_RUN_ID $CARILLON_DELIVERY" >> "$JOURNAL"`},
	}
	switch {
	case isPrinting(i):
		j.Task.Shell += `; echo "I am $CARILLON_RUN_ID"`
	case isSlow(i):
		j.Task.Shell += `; sleep 1.5`
	case isOnce(i):
		j.Delivery = job.AtMostOnce
		j.Task.Shell += `; sleep 0.3`
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
			g.Go(func() error { return l.add(t.Context(), api, i) })
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatalf("save jobs: %v", err)
	}
}

// add saves job number i. It may be called again when it is not known what became of it.
func (l *load) add(ctx context.Context, api *client.API, i int) error {
	saved, err := l.put(ctx, api, l.document(i))
	if err != nil {
		return err
	}
	l.since[i] = saved.Definition.EffectiveFrom
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

// edit saves a young job, or another version of one of the jobs that are edited, with
// the schedule that it had.
func (l *load) edit(ctx context.Context, api *client.API, r *rand.Rand) error {
	if r.IntN(2) == 0 {
		if some, err := l.saveYoung(ctx, api); some {
			return err
		}
	}
	j := l.document(r.IntN(l.jobs/10)*10 + edited)
	j.Description = fmt.Sprintf("edited at %s", time.Now())
	_, err := l.put(ctx, api, j)
	return err
}

// fires returns what the jobs owe: by job, the instants at which it had to fire. They
// follow from the schedule alone.
func (l *load) fires() map[job.Name][]time.Time {
	owed := map[job.Name][]time.Time{}
	for i := range l.jobs {
		for at := l.since[i].Truncate(rate).Add(rate); !at.After(l.until); at = at.Add(rate) {
			owed[l.name(i)] = append(owed[l.name(i)], at)
		}
	}
	return owed
}
