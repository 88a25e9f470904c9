package jobapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	bridge "github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// API manages jobs for executors. It is safe for concurrent use.
type API struct {
	carillon *client.API
	bridge   *bridge.Bridge // knows the numbers of jobs
	zone     string

	listing sync.Mutex // held while the jobs of a group are listed: unknown numbers must not flood the API
}

// New returns the job API of a bridge. It calls Carillon's API with that client's token, and can do what
// the token allows. zone is the time zone of cron expressions; "" is UTC.
func New(carillon *client.API, of *bridge.Bridge, zone string) *API {
	return &API{carillon: carillon, bridge: of, zone: zone}
}

// Serve handles one request of an executor of a group, and returns the payload of the answer, if any.
// The error is job.ErrNotFound if act is not one of the job API, and an *InvalidError for what is wrong
// with the request.
func (a *API) Serve(ctx context.Context, group, act string, body []byte) (json.RawMessage, error) {
	switch act {
	case "addJob":
		return a.add(ctx, group, body)
	case "updateJob":
		return nil, a.update(ctx, group, body)
	case "removeJob":
		return nil, a.command(ctx, group, body, a.remove)
	case "startJob":
		return nil, a.command(ctx, group, body, a.start)
	case "stopJob":
		return nil, a.command(ctx, group, body, a.stop)
	case "triggerJob":
		return nil, a.command(ctx, group, body, a.trigger)
	}
	return nil, fmt.Errorf("%w: %s", job.ErrNotFound, act)
}

// add makes a job, and answers its number.
func (a *API) add(ctx context.Context, group string, body []byte) (json.RawMessage, error) {
	info, err := wire.ReadJobInfo(body, false)
	if err != nil {
		return nil, err
	}
	id, err := a.bridge.NewJobID(ctx, group)
	if err != nil {
		return nil, err
	}
	e, err := a.convert(&info, id, group)
	if err != nil {
		return nil, err
	}
	err = a.put(ctx, &e, client.PutJobParams{IfNoneMatch: new("*")})
	if errors.Is(err, job.ErrConflict) { // the name is another job's
		e.Job.Job += job.Name("-" + strconv.Itoa(e.ID))
		err = a.put(ctx, &e, client.PutJobParams{IfNoneMatch: new("*")})
	}
	if err != nil {
		return nil, err
	}
	// If this fails, the number is still found by the note of the job's version.
	if id, err = a.bridge.GiveJobID(ctx, e.Job.Job, id); err != nil {
		return nil, err
	}
	return json.Marshal(strconv.Itoa(int(id)))
}

// convert makes a job of a request.
func (a *API) convert(info *wire.JobInfo, id int32, group string) (xxljob.Entry, error) {
	e := xxljob.Convert(id, group, a.zone, info.Columns())
	switch {
	case e.Outcome != xxljob.Imported:
		return e, &job.InvalidError{Reason: e.Note}
	case len(e.Unread) > 0:
		return e, &job.InvalidError{Field: wire.FieldOf(e.Unread[0]), Reason: fmt.Sprintf("%q is not a value of XXL-JOB", info.Columns()[e.Unread[0]])}
	}
	return e, nil
}

func (a *API) put(ctx context.Context, e *xxljob.Entry, p client.PutJobParams) error {
	p.Note = &e.Origin
	_, err := client.Read[client.PutJobResult](a.carillon.PutJob(ctx, e.Job.Job.Group(), e.Job.Job.Short(), &p, job.Document{Job: e.Job}))
	return err
}

// update changes what XXL-JOB knows of a job, and leaves what it does not know: labels, calendars,
// children, whether it is paused, and so on.
func (a *API) update(ctx context.Context, group string, body []byte) error {
	info, err := wire.ReadJobInfo(body, true)
	if err != nil {
		return err
	}
	name, err := a.find(ctx, group, info.ID)
	if err != nil {
		return err
	}
	e, err := a.convert(&info, info.ID, group)
	if err != nil {
		return err
	}
	now, err := client.Read[client.JobItem](a.carillon.GetJob(ctx, name.Group(), name.Short(), &client.GetJobParams{Fires: new(0), Runs: new(0)}))
	if err != nil {
		return err
	}
	e.Job = merge(now.Definition.Job, e.Job)
	return a.put(ctx, &e, client.PutJobParams{IfMatch: new(strconv.Quote(strconv.FormatUint(now.Revision, 10)))})
}

// merge returns a job with what a request says of it.
func merge(was, said job.Job) job.Job {
	now := was
	now.Title, now.Owner, now.Task, now.Params, now.Timeout = said.Title, said.Owner, said.Task, said.Params, said.Timeout
	now.Route, now.Overlap.Policy, now.Misfire.Policy = said.Route, said.Overlap.Policy, said.Misfire.Policy
	if said.Description != "" {
		now.Description = said.Description
	}
	if was.Retry.Limit == 0 || said.Retry.Limit == 0 {
		now.Retry = said.Retry
	}
	now.Retry.Limit = said.Retry.Limit
	if was.Schedule.Kind() != said.Schedule.Kind() {
		now.Schedule = said.Schedule
	}
	now.Schedule.Cron, now.Schedule.FixedRate, now.Schedule.FixedDelay = said.Schedule.Cron, said.Schedule.FixedRate, said.Schedule.FixedDelay
	return now
}

// find returns the job with a number, which must be of the group.
func (a *API) find(ctx context.Context, group string, id int32) (job.Name, error) {
	name, err := a.bridge.JobOf(ctx, group, id)
	if errors.Is(err, job.ErrNotFound) {
		name, err = a.imported(ctx, group, id)
	}
	switch {
	case err != nil:
		return "", err
	case name == "" || name.Group() != group:
		return "", &job.InvalidError{Field: "id", Reason: fmt.Sprintf("%d is no job of group %s", id, group)}
	}
	return name, nil
}

// maxImported bounds the jobs of a group among which an imported one is looked for.
const maxImported = 100_000

// imported finds the job that had a number in XXL-JOB and has not run here yet; "" if there is none.
func (a *API) imported(ctx context.Context, group string, id int32) (job.Name, error) {
	a.listing.Lock()
	defer a.listing.Unlock()
	page, err := a.carillon.Jobs(ctx, client.ListJobsParams{Group: &group, Fires: new(0), Runs: new(0)}, maxImported)
	if err != nil {
		return "", err
	}
	for i := range page.Items {
		if d := &page.Items[i].Definition; xxljob.IDOf(d.Note) == id {
			_, err := a.bridge.GiveJobID(ctx, d.Job.Job, id)
			return d.Job.Job, err
		}
	}
	return "", nil
}

// command does something about a job that is there.
func (a *API) command(ctx context.Context, group string, body []byte, do func(context.Context, job.Name, wire.JobCommand) error) error {
	c, err := wire.ReadJobCommand(body)
	if err != nil {
		return err
	}
	name, err := a.find(ctx, group, c.ID)
	if err != nil {
		return err
	}
	return do(ctx, name, c)
}

func (a *API) remove(ctx context.Context, name job.Name, _ wire.JobCommand) error {
	_, err := client.Read[client.None](a.carillon.DeleteJob(ctx, name.Group(), name.Short(), nil))
	return err
}

func (a *API) start(ctx context.Context, name job.Name, _ wire.JobCommand) error {
	_, err := client.Read[client.JobItem](a.carillon.ResumeJob(ctx, name.Group(), name.Short(), nil, client.Note{}))
	return err
}

func (a *API) stop(ctx context.Context, name job.Name, _ wire.JobCommand) error {
	_, err := client.Read[client.JobItem](a.carillon.PauseJob(ctx, name.Group(), name.Short(), nil, client.PauseRequest{}))
	return err
}

func (a *API) trigger(ctx context.Context, name job.Name, c wire.JobCommand) error {
	var q client.RunRequest
	if c.Addresses != "" {
		address, err := wire.CleanAddress(c.Addresses)
		if err != nil || strings.Contains(address, ",") {
			return &job.InvalidError{Field: "addressList", Reason: "must be empty, or the address of one executor, such as http://10.0.0.5:9999"}
		}
		q.Labels = job.Labels{fleet.LabelInstance: a.bridge.InstanceAt(address)}
	}
	if c.Params != nil {
		if q.Params = foreign.Params(*c.Params); q.Params == nil {
			q.Params = json.RawMessage(`""`)
		}
	}
	_, err := client.Read[client.RunAccepted](a.carillon.RunJob(ctx, name.Group(), name.Short(), nil, q))
	return err
}
