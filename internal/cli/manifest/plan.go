package manifest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// requestsAtOnce bounds how many documents are with the server at a time. Each of them waits for NATS
// several times: with three copies, for milliseconds.
const requestsAtOnce = 64

// The results of a change.
const (
	created   = "created"
	changed   = "changed"
	unchanged = "unchanged"
	deleted   = "deleted"
)

// Change is what becomes of one document.
type Change struct {
	Kind   manifest.Kind        `json:"kind"`
	Name   string               `json:"name"`
	Result string               `json:"result"`
	Fields []client.FieldChange `json:"changes,omitempty"`
	// Warnings say what is most likely wrong with a job, or with a rule that was saved.
	Warnings []client.FieldError `json:"warnings,omitempty"`

	doc      *manifest.Document // nil for what is deleted
	revision uint64             // that the change is based on
	note     string             // of the version that is saved, of a job
}

// planner asks the server what documents would change. It changes nothing.
type planner struct {
	api *client.API
	// calendars are those of the documents, which are saved before jobs.
	calendars []string
	// channels are those of the documents, which are saved before rules.
	channels []string
}

// plan returns what becomes of each document, by kind, else in order. The error joins
// every problem that the server or, for all but jobs, we find in them, each with its file and line.
func (p planner) plan(ctx context.Context, docs []manifest.Document) ([]Change, error) {
	for i := range docs {
		switch docs[i].Kind {
		case manifest.Calendar:
			p.calendars = append(p.calendars, docs[i].Name)
		case manifest.Channel:
			p.channels = append(p.channels, docs[i].Name)
		case manifest.Alert, manifest.Job:
		}
	}
	changes := make([]Change, len(docs))
	problems := make([]error, len(docs))
	g, asking := errgroup.WithContext(ctx)
	g.SetLimit(requestsAtOnce)
	for i := range docs {
		g.Go(func() error {
			ask := p.planJob
			if docs[i].Kind != manifest.Job {
				ask = p.planOther
			}
			c, err := ask(asking, &docs[i])
			if errors.Is(err, job.ErrInvalid) {
				problems[i] = located(&docs[i], err)
				return nil
			}
			changes[i] = c
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	jobs, err := p.familyOf(ctx, docs)
	if err != nil {
		return nil, err
	}
	if err := jobs.cycles(docs); err != nil {
		return nil, err
	}
	for i := range changes {
		switch c := &changes[i]; c.Kind {
		case manifest.Job:
			c.Warnings = jobs.warnings(c.Warnings)
		case manifest.Alert:
			c.Warnings = slices.DeleteFunc(c.Warnings, jobs.settles)
		case manifest.Calendar, manifest.Channel:
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Kind, b.Kind) })
	return changes, nil
}

func (p planner) planJob(ctx context.Context, d *manifest.Document) (Change, error) {
	name := job.Name(d.Name)
	put, err := client.Read[client.PutJobResult](p.api.PutJobWithBody(ctx, name.Group(), name.Short(),
		&client.PutJobParams{DryRun: new(true), Calendars: client.OptionalList(p.calendars)}, "application/json", bytes.NewReader(d.JSON)))
	return Change{Kind: d.Kind, Name: d.Name, Result: string(put.Result), Fields: put.Changes, Warnings: put.Warnings, doc: d, revision: put.Revision}, err
}

// planOther compares a document that is no job itself. The server checks a rule, but does not compare it.
func (p planner) planOther(ctx context.Context, d *manifest.Document) (Change, error) {
	c := Change{Kind: d.Kind, Name: d.Name, Result: created, doc: d}
	wish, present, err := p.wishAndPresent(ctx, d)
	switch {
	case errors.Is(err, job.ErrNotFound):
	case err != nil:
		return c, err
	default:
		c.Result, c.revision = unchanged, present.revision
		if c.Fields, err = documentChanges(present.document, wish); err != nil {
			return c, err
		}
		if len(c.Fields) > 0 {
			c.Result = changed
		}
	}
	if d.Kind != manifest.Alert {
		return c, nil
	}
	item, err := client.Read[client.AlertItem](p.api.PutAlertWithBody(ctx, d.Name,
		&client.PutAlertParams{DryRun: new(true), Channels: client.OptionalList(p.channels)}, "application/json", bytes.NewReader(d.JSON)))
	c.Warnings = item.Warnings
	return c, err
}

// present is a document as the server has it.
type present struct {
	document any
	revision uint64
}

// wishAndPresent returns a document as it will be after apply, and as the server has it.
// The error is an *InvalidError if the document is wrong, and job.ErrNotFound if the
// server has none.
func (p planner) wishAndPresent(ctx context.Context, d *manifest.Document) (wish any, now present, err error) {
	switch d.Kind {
	case manifest.Alert:
		var rule alerting.RuleDocument
		if rule, err = alerting.DecodeRule(d.JSON); err == nil {
			var item client.AlertItem
			item, err = client.Read[client.AlertItem](p.api.GetAlert(ctx, d.Name))
			wish, now = rule.Over(&item.Definition), present{item.Definition, item.Revision}
		}
	case manifest.Channel:
		var channel alerting.ChannelDocument
		if channel, err = alerting.DecodeChannel(d.JSON); err == nil {
			var item client.ChannelItem
			item, err = client.Read[client.ChannelItem](p.api.GetChannel(ctx, d.Name))
			wish, now = channel.Over(&item.Definition), present{item.Definition, item.Revision}
		}
	case manifest.Calendar, manifest.Job: // a job is planned by the server
		if wish, err = job.DecodeCalendar(d.JSON); err == nil {
			var item client.CalendarItem
			item, err = client.Read[client.CalendarItem](p.api.GetCalendar(ctx, d.Name))
			now = present{item.Definition.Calendar, item.Revision}
		}
	}
	return wish, now, err
}

// documentChanges lists the fields in which two documents differ.
func documentChanges(from, to any) ([]client.FieldChange, error) {
	fields := func(document any) (m map[string]any, err error) {
		data, err := json.Marshal(document)
		if err == nil {
			err = exact.Unmarshal(data, &m)
		}
		if err != nil {
			return nil, fmt.Errorf("encode document: %w", err)
		}
		return m, nil
	}
	a, err := fields(from)
	if err != nil {
		return nil, err
	}
	b, err := fields(to)
	if err != nil {
		return nil, err
	}
	both := maps.Clone(a)
	maps.Copy(both, b)
	var changes []client.FieldChange
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !reflect.DeepEqual(a[name], b[name]) {
			changes = append(changes, client.FieldChange{Field: name, From: a[name], To: b[name]})
		}
	}
	return changes, nil
}

// located gives each problem of a document its file and line.
func located(d *manifest.Document, err error) error {
	var all []error
	if p, ok := errors.AsType[*client.Problem](err); ok {
		for _, f := range p.Errors {
			all = append(all, d.Problem(f.Field, string(f.Reason)))
		}
	}
	for _, p := range job.Problems(err) {
		all = append(all, d.Problem(p.Field, p.Reason))
	}
	if len(all) == 0 {
		all = append(all, d.Problem("", err.Error()))
	}
	return errors.Join(all...)
}

// prune returns the deletion of every job that is in a group of the planned jobs, but
// is not one of them.
func (p planner) prune(ctx context.Context, planned []Change) ([]Change, error) {
	groups, wanted := map[string]bool{}, map[job.Name]bool{}
	for _, c := range planned {
		if c.Kind == manifest.Job {
			groups[job.Name(c.Name).Group()], wanted[job.Name(c.Name)] = true, true
		}
	}
	var deletions []Change
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		page, err := p.api.Jobs(ctx, client.ListJobsParams{Group: &group, Fires: new(0), Runs: new(0)}, 0)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if name := item.Definition.Job.Job; !wanted[name] {
				deletions = append(deletions, Change{Kind: manifest.Job, Name: string(name), Result: deleted, revision: item.Revision})
			}
		}
	}
	return deletions, nil
}

// carryOut makes the changes: calendars and channels, then what needs them, then deletions. Each holds only
// if the thing is still as it was when the change was planned. It returns how many
// were made, and stops at the first that cannot be.
func (p planner) carryOut(ctx context.Context, changes []Change) (int, error) {
	var made atomic.Int64
	saved := family{docs: map[job.Name]job.Job{}} // in the end
	for _, c := range changes {
		if c.Kind == manifest.Job && c.Result != deleted {
			saved.docs[job.Name(c.Name)] = job.Job{}
		}
	}
	for _, stage := range []func(Change) bool{
		func(c Change) bool { return c.Kind == manifest.Calendar || c.Kind == manifest.Channel },
		func(c Change) bool { return c.Kind == manifest.Alert },
		func(c Change) bool { return c.Kind == manifest.Job && c.Result != deleted },
		func(c Change) bool { return c.Result == deleted },
	} {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(requestsAtOnce)
		for i := range changes {
			c := &changes[i]
			if c.Result == unchanged || !stage(*c) {
				continue
			}
			g.Go(func() error {
				if err := p.make(ctx, c); err != nil {
					return fmt.Errorf("%s %s: %w", c.Kind, c.Name, err)
				}
				c.Warnings = slices.DeleteFunc(c.Warnings, saved.settles)
				made.Add(1)
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return int(made.Load()), err
		}
	}
	return int(made.Load()), nil
}

// make makes one change.
func (p planner) make(ctx context.Context, c *Change) error {
	var ifMatch, ifNoneMatch *string
	if c.Result == created {
		ifNoneMatch = new("*")
	} else {
		ifMatch = new(`"` + strconv.FormatUint(c.revision, 10) + `"`)
	}
	name := job.Name(c.Name)
	var err error
	switch {
	case c.Result == deleted:
		_, err = client.Read[client.None](p.api.DeleteJob(ctx, name.Group(), name.Short(), &client.DeleteJobParams{IfMatch: ifMatch}))
	case c.Kind == manifest.Alert:
		var item client.AlertItem
		item, err = client.Read[client.AlertItem](p.api.PutAlertWithBody(ctx, c.Name,
			&client.PutAlertParams{IfMatch: ifMatch, IfNoneMatch: ifNoneMatch}, "application/json", bytes.NewReader(c.doc.JSON)))
		c.Warnings = item.Warnings
	case c.Kind == manifest.Channel:
		_, err = client.Read[client.ChannelItem](p.api.PutChannelWithBody(ctx, c.Name,
			&client.PutChannelParams{IfMatch: ifMatch, IfNoneMatch: ifNoneMatch}, "application/json", bytes.NewReader(c.doc.JSON)))
	case c.Kind == manifest.Calendar:
		_, err = client.Read[client.CalendarItem](p.api.PutCalendarWithBody(ctx, c.Name,
			&client.PutCalendarParams{IfMatch: ifMatch, IfNoneMatch: ifNoneMatch}, "application/json", bytes.NewReader(c.doc.JSON)))
	default:
		params := client.PutJobParams{IfMatch: ifMatch, IfNoneMatch: ifNoneMatch}
		if c.note != "" {
			params.Note = &c.note
		}
		_, err = client.Read[client.PutJobResult](p.api.PutJobWithBody(ctx, name.Group(), name.Short(), &params, "application/json", bytes.NewReader(c.doc.JSON)))
	}
	return err
}
