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

// load is jobs that fire every second between two instants, both inclusive. (The
// first lies behind the saving of the jobs: fires between the instant at which a
// version is to take effect and that at which its shard hears of it are nobody's.) What their runs do is write
// into the journal. Each tenth job also prints a line, takes a while, may be done at
// most once, or is edited now and then.
type load struct {
	group string
	jobs  int
	from  time.Time
	until time.Time
}

// rate is how often each job fires.
const rate = time.Second

// isPrinting, isSlow and isOnce tell the kinds of job by their number.
func isPrinting(i int) bool { return i%10 == 1 }
func isSlow(i int) bool     { return i%10 == 2 }
func isOnce(i int) bool     { return i%10 == 3 }

// edited is the last digit of the jobs that are edited while they fire.
const edited = 4

func (l load) name(i int) job.Name { return job.Name(fmt.Sprintf("%s/job-%03d", l.group, i)) }

// number is the inverse of name.
func (l load) number(name job.Name) int {
	var i int
	if _, err := fmt.Sscanf(name.Short(), "job-%d", &i); err != nil {
		return -1
	}
	return i
}

// document returns job number i.
func (l load) document(i int) job.Job {
	j := job.Job{
		Job:      l.name(i),
		Schedule: job.Schedule{FixedRate: job.Duration(rate), From: &l.from, Until: &l.until},
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

// save saves the jobs through the API.
func (l load) save(t *testing.T, api *client.API) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(8)
	for i := range l.jobs {
		g.Go(func() error { return l.put(t.Context(), api, l.document(i)) })
	}
	if err := g.Wait(); err != nil {
		t.Fatalf("save jobs: %v", err)
	}
	if time.Now().After(l.from.Add(-rate)) {
		t.Fatalf("saving %d jobs took until %s, too close to their first fire", l.jobs, time.Now())
	}
}

func (l load) put(ctx context.Context, api *client.API, j job.Job) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = client.Read[client.PutJobResult](api.PutJobWithBody(ctx, l.group, j.Job.Short(), &client.PutJobParams{}, "application/json", bytes.NewReader(body)))
	return err
}

// edit saves another version of one of the jobs that are edited, with the schedule
// that it had.
func (l load) edit(ctx context.Context, api *client.API, r *rand.Rand) error {
	j := l.document(r.IntN(l.jobs/10)*10 + edited)
	j.Description = fmt.Sprintf("edited at %s", time.Now())
	return l.put(ctx, api, j)
}

// fires returns what the jobs owe: by job, the instants at which it had to fire. They
// follow from the schedule alone.
func (l load) fires() map[job.Name][]time.Time {
	owed := map[job.Name][]time.Time{}
	for i := range l.jobs {
		for at := l.from; !at.After(l.until); at = at.Add(rate) {
			owed[l.name(i)] = append(owed[l.name(i)], at)
		}
	}
	return owed
}
