package webapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/alerts"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// alertHandlers answer requests about rules, incidents, silences and channels.
type alertHandlers struct {
	book   *alert.Store
	alerts *alerts.Alerts
	// catalog knows which jobs and groups there are.
	catalog *catalog.Catalog
	master  *seal.Master   // seals secrets; nil without one
	store   logstore.Store // as access.VisibleStore has it
}

// ListAlerts answers GET /alerts/rules.
func (h *alertHandlers) ListAlerts(ctx context.Context, _ ListAlertsRequestObject) (*AlertList, error) {
	rules, err := h.book.Rules(ctx)
	if err != nil {
		return nil, err
	}
	list := AlertList{Items: make([]AlertItem, 0, len(rules))}
	for i := range rules {
		list.Items = append(list.Items, alertItem(&rules[i]))
	}
	return &list, nil
}

// ListDeadlines answers GET /deadlines.
func (h *alertHandlers) ListDeadlines(ctx context.Context, r ListDeadlinesRequestObject) (*DeadlineList, error) {
	list, err := h.alerts.Deadlines(ctx, h.catalog.Search(), h.store, r.Params.RunID)
	return &list, err
}

func alertItem(e *alert.Entry[alerting.Rule]) AlertItem {
	return AlertItem{
		Definition: e.Doc, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Author: e.Author, Revision: e.Revision,
		AboutCode: alert.About(&e.Doc).Code,
	}
}

// GetAlert answers GET /alerts/rules/{alert}.
func (h *alertHandlers) GetAlert(ctx context.Context, r GetAlertRequestObject) (*answer[AlertItem], error) {
	if err := job.CheckSlug("alert", r.Alert); err != nil {
		return nil, err
	}
	e, err := h.book.Rule(ctx, r.Alert)
	if err != nil {
		return nil, err
	}
	return &answer[AlertItem]{Body: alertItem(e), ETag: etag(e.Revision)}, nil
}

// PutAlert answers PUT /alerts/rules/{alert}.
func (h *alertHandlers) PutAlert(ctx context.Context, r PutAlertRequestObject) (*answer[AlertItem], error) {
	if r.Body.Alert != r.Alert {
		return nil, job.Invalid("alert", "%q must be %q, as in the path", r.Body.Alert, r.Alert)
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if r.Params.DryRun {
		return h.checkAlert(ctx, *r.Body, edit, r.Params.Channels)
	}
	if len(r.Params.Channels) > 0 {
		return nil, job.Invalid("channels", "is only for a dry run")
	}
	was, now, changed, err := h.book.PutRule(ctx, *r.Body, edit)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	var before any
	if was != nil {
		before = was.Doc
	}
	if err := auditlog.Describe(ctx, changed, "", before, now.Doc); err != nil {
		return nil, err
	}
	item := alertItem(now)
	item.Warnings = h.catalog.Unknown(ctx, namesOfRule(&now.Doc))
	return &answer[AlertItem]{Body: item, ETag: etag(now.Revision)}, nil
}

// checkAlert returns a rule as it would be saved. planned names channels that will be saved before it.
func (h *alertHandlers) checkAlert(ctx context.Context, wish alerting.RuleDocument, edit cluster.Edit, planned []string) (*answer[AlertItem], error) {
	wish, err := h.book.CheckRule(ctx, wish, planned...)
	if err != nil {
		return nil, err
	}
	e, err := h.book.Rule(ctx, wish.Alert)
	switch {
	case errors.Is(err, job.ErrNotFound):
		e = &alert.Entry[alerting.Rule]{CreatedAt: edit.At, UpdatedAt: edit.At, Author: edit.Author, Doc: wish.Over(nil)}
	case err != nil:
		return nil, err
	default:
		e.Doc = wish.Over(&e.Doc)
	}
	item := alertItem(e)
	item.Warnings = h.catalog.Unknown(ctx, namesOfRule(&e.Doc))
	return &answer[AlertItem]{Body: item, ETag: etag(e.Revision)}, nil
}

// namesOfRule returns the names of jobs and groups in a rule.
func namesOfRule(r *alerting.Rule) (names []catalog.Name) {
	for i, group := range r.Match.Groups {
		names = append(names, catalog.Name{Field: fmt.Sprintf("match.groups[%d]", i), Group: group})
	}
	for i, name := range r.Match.Jobs {
		names = append(names, catalog.Name{Field: fmt.Sprintf("match.jobs[%d]", i), Job: name})
	}
	return names
}

// DeleteAlert answers DELETE /alerts/rules/{alert}.
func (h *alertHandlers) DeleteAlert(ctx context.Context, r DeleteAlertRequestObject) (*none, error) {
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err == nil {
		err = job.CheckSlug("alert", r.Alert)
	}
	if err != nil {
		return nil, err
	}
	if err := h.book.DeleteRule(ctx, r.Alert, edit); err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return &none{}, nil
}

// ListSilences answers GET /alerts/silences.
func (h *alertHandlers) ListSilences(ctx context.Context, _ ListSilencesRequestObject) (*SilenceList, error) {
	list, err := h.book.Silences(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	theirs := access.Who(ctx).Access
	list = slices.DeleteFunc(list, func(s alerting.Silence) bool {
		group := s.Group
		if s.Job != "" {
			group = s.Job.Group()
		}
		return group != "" && !theirs.May(rights.Viewer, group)
	})
	return &SilenceList{Items: list}, nil
}

// AddSilence answers POST /alerts/silences.
func (h *alertHandlers) AddSilence(ctx context.Context, r AddSilenceRequestObject) (*NewSilence, error) {
	b := r.Body
	s, err := alerting.NewSilence(alerting.Silence{Rule: b.Alert, Group: b.ExecutorGroup, Job: job.Name(b.Job), Reason: b.Reason}, b.Lasts.Std(), access.Author(ctx), time.Now().Truncate(time.Millisecond))
	if err != nil {
		return nil, err
	}
	if err := h.book.AddSilence(ctx, s); err != nil {
		return nil, err
	}
	if err := auditlog.Describe(ctx, true, b.Reason, nil, *s); err != nil {
		return nil, err
	}
	return &NewSilence{Silence: *s, Warnings: h.unknownIn(ctx, s)}, nil
}

// unknownIn returns a warning about each name in a silence that stands for nothing.
func (h *alertHandlers) unknownIn(ctx context.Context, s *alerting.Silence) (warnings []FieldError) {
	if s.Rule != "" {
		if _, err := h.book.Rule(ctx, s.Rule); errors.Is(err, job.ErrNotFound) {
			warnings = append(warnings, FieldError{Field: "alert", Reason: reason.Text(refusal.RuleUnknown.With(s.Rule))})
		}
	}
	var names []catalog.Name
	if s.Group != "" {
		names = append(names, catalog.Name{Field: "executor_group", Group: s.Group})
	}
	if s.Job != "" {
		names = append(names, catalog.Name{Field: "job", Job: s.Job})
	}
	return append(warnings, h.catalog.Unknown(ctx, names)...)
}

// EndSilence answers DELETE /alerts/silences/{silence}.
func (h *alertHandlers) EndSilence(ctx context.Context, r EndSilenceRequestObject) (*none, error) {
	if err := h.book.EndSilence(ctx, r.Silence); err != nil {
		return nil, err
	}
	return &none{}, nil
}

// TryAlert answers POST /alerts/try.
func (h *alertHandlers) TryAlert(ctx context.Context, r TryAlertRequestObject) (*AlertTrial, error) {
	trial, err := h.alerts.Try(ctx, *r.Body)
	return &trial, err
}
