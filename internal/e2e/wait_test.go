//go:build unix

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// waiting are the kinds of jobs whose runs have steps that wait.
var waiting = []kind{
	{
		name: "timed", make: func(j *job.Job) {
			*j = withSteps(j,
				doing("first", write),
				awaiting("pause", job.Wait{For: job.Duration(time.Second)}, "first"),
				awaiting("until", job.Wait{Until: "${fire_time|+2s}"}, "first"),
				doing("last", write, "pause", "until"),
			)
		},
		steps: succeeding("first", "pause", "until", "last"), writes: map[string]int{"pause": 0, "until": 0},
	},
	{
		name: "signalled", make: func(j *job.Job) {
			*j = withSteps(j,
				doing("first", write+`; sleep 1`),
				awaiting("paid", job.Wait{Signal: "paid", Key: "${workflow.run_id}"}, "first"),
				given(doing("last", write+`; echo "$CARILLON_PARAMS" > "$CARILLON_RESULT_FILE"`, "paid"), `{"n":"${results.paid.n}"}`),
			)
			j.Result = []byte(`"${results.last}"`)
		},
		steps: succeeding("first", "paid", "last"), writes: map[string]int{"paid": 0},
	},
	{
		name: "approved", make: func(j *job.Job) {
			no, undo := awaiting("no", job.Wait{Approval: &job.Approval{}}, "first"), doing("undo", write, "no")
			no.MayFail, undo.After[0].On = true, workflow.OnFailure
			*j = withSteps(j,
				doing("first", write),
				awaiting("yes", job.Wait{Approval: &job.Approval{}}, "first"), no, undo,
				doing("last", write, "yes"), doing("never", write, "no"),
			)
		},
		steps: map[string]client.Status{
			"first": job.StatusSucceeded, "yes": job.StatusSucceeded, "no": job.StatusFailed, "undo": job.StatusSucceeded,
			"last": job.StatusSucceeded, "never": job.StatusSkipped,
		},
		writes: map[string]int{"yes": 0, "no": 0},
	},
	{
		name: "awaiting", make: func(j *job.Job) {
			plain := job.Name(j.Job.Group() + "/job-000")
			*j = withSteps(j,
				awaiting("runs", job.Wait{Runs: &job.AwaitedRuns{Job: plain, From: "${fire_time|-2s}", To: "${fire_time}"}}),
				doing("last", write, "runs"),
			)
		},
		steps: succeeding("runs", "last"), writes: map[string]int{"runs": 0},
	},
}

// awaiting returns a step that waits after others.
func awaiting(name string, w job.Wait, after ...string) job.Step {
	s := doing(name, "", after...)
	s.Task, s.Wait = job.Task{}, &w
	return s
}

// desk is those for whom steps wait. While everything may be down they approve and reject, and send signals: before a
// step waits for one, while it does, and once more. One goroutine at a time uses it.
type desk struct {
	*load
	api  *client.API
	jobs []job.Name // whose runs wait for somebody
	n    int
	sent map[job.RunID]map[int]bool // by the numbers of the signals, whether they were taken: an answer may have been lost
	// early is how many signals were taken before the step waited, refused how many were not because one had been.
	early, refused int
}

func newDesk(l *load, api *client.API) *desk {
	d := &desk{load: l, api: api, sent: map[job.RunID]map[int]bool{}}
	for i := range l.jobs {
		j := l.document(i)
		for k := range j.Steps {
			if w := j.Steps[k].Wait; w != nil && (w.Signal != "" || w.Approval != nil) {
				d.jobs = append(d.jobs, j.Job)
				break
			}
		}
	}
	return d
}

// atOnce is for how many runs of a job steps are answered at once, about.
const atOnce = 20

// answer answers the steps of the runs that have just begun, or are about to, and of some runs of some job.
func (d *desk) answer(ctx context.Context, r *rand.Rand) (failed error) {
	fire := time.Now().Truncate(d.rate).UnixMilli()
	for _, name := range d.jobs {
		failed = cmp.Or(failed, d.decide(ctx, name, job.FireRunID(name, fire, job.CauseSchedule)))
	}
	return cmp.Or(failed, d.answerAll(ctx, d.jobs[r.IntN(len(d.jobs))], atOnce))
}

// rest answers the steps of all runs that have not ended.
func (d *desk) rest(ctx context.Context) error {
	var failed error
	for _, name := range d.jobs {
		failed = cmp.Or(failed, d.answerAll(ctx, name, 0))
	}
	return failed
}

// answerAll answers the steps of the newest most runs of a job that have not ended, or of all if most is 0.
func (d *desk) answerAll(ctx context.Context, name job.Name, most int) error {
	page, failed := d.api.Runs(ctx, client.ListRunsParams{
		Job: &[]string{string(name)}, Status: &[]client.Status{job.StatusPending, job.StatusQueued, job.StatusRunning},
	}, most)
	for i := range page.Items {
		failed = cmp.Or(failed, d.decide(ctx, name, page.Items[i].RunID))
	}
	return failed
}

// decide answers the steps of a run. That none of them waits is no error.
func (d *desk) decide(ctx context.Context, name job.Name, id job.RunID) (failed error) {
	of := d.document(d.number(name))
	k := d.kind(name)
	for i := range of.Steps {
		s := &of.Steps[i]
		var err error
		switch {
		case s.Wait == nil:
		case s.Wait.Signal != "":
			if err = d.signal(ctx, name, id, s.Wait.Signal); err == nil {
				err = d.signal(ctx, name, id, s.Wait.Signal)
			}
		case s.Wait.Approval != nil && k.steps[s.Name] == job.StatusFailed:
			_, err = client.Read[client.StepAccepted](d.api.RejectStep(ctx, string(id), s.Name, nil, client.DecideStepRequest{}))
		case s.Wait.Approval != nil:
			_, err = client.Read[client.StepAccepted](d.api.ApproveStep(ctx, string(id), s.Name, nil, client.DecideStepRequest{}))
		}
		if !errors.Is(err, job.ErrConflict) && !errors.Is(err, job.ErrNotFound) {
			failed = cmp.Or(failed, err)
		}
	}
	return failed
}

// signal sends a signal to a run, by its id and by its key in turn.
func (d *desk) signal(ctx context.Context, name job.Name, id job.RunID, signal string) error {
	d.n++
	if d.sent[id] == nil {
		d.sent[id] = map[int]bool{}
	}
	d.sent[id][d.n] = false
	request := client.SignalRequest{Data: fmt.Appendf(nil, `{"n":%d}`, d.n)}
	send := func() (*http.Response, error) { return d.api.SignalRun(ctx, string(id), signal, nil, request) }
	if d.n%2 == 0 {
		request.Key = string(id)
		send = func() (*http.Response, error) {
			return d.api.SignalJob(ctx, name.Group(), name.Short(), signal, nil, request)
		}
	}
	accepted, err := client.Read[client.SignalAccepted](send())
	switch {
	case err == nil && accepted.RunID == id:
		d.sent[id][d.n] = true
		if accepted.Status == job.StatusQueued {
			d.early++
		}
	case err == nil:
		return fmt.Errorf("a signal for %s was taken by %s", id, accepted.RunID)
	case errors.Is(err, job.ErrConflict):
		d.refused++
	}
	return err
}

// check wants each run that waited for a signal to have got one that was sent, the only one that was taken.
func (d *desk) check(t *testing.T, runs []client.Run) {
	t.Helper()
	wrong := differences{}
	for i := range runs {
		r := &runs[i]
		if d.kind(r.Job).name != "signalled" || r.Status != job.StatusSucceeded {
			continue
		}
		detail, err := client.Read[client.RunDetail](d.api.GetRun(t.Context(), string(r.RunID)))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			N int `json:"n"`
		}
		if err := json.Unmarshal(detail.Attempts[0].Result, &got); err != nil {
			wrong.add("runs without the result of their signal", "%s: %s", r.RunID, detail.Attempts[0].Result)
			continue
		}
		if _, sent := d.sent[r.RunID][got.N]; !sent {
			wrong.add("runs with a signal that nobody sent", "%s: %d of %v", r.RunID, got.N, d.sent[r.RunID])
		}
		for n, taken := range d.sent[r.RunID] {
			if taken && n != got.N {
				wrong.add("signals that were taken and had no effect", "%d for %s, which got %d", n, r.RunID, got.N)
			}
		}
	}
	wrong.report(t)
	t.Logf("signals taken before a step waited %d, refused because one had come %d", d.early, d.refused)
}
