package webapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"carillon/alert"
	"carillon/bus/cluster"
	"carillon/job"
	"carillon/job/alerting"
	"carillon/job/rights"
	"carillon/logstore"
)

// ListAlerts answers GET /alerts/rules.
func (h *handlers) ListAlerts(ctx context.Context, _ ListAlertsRequestObject) (ListAlertsResponseObject, error) {
	rules, err := h.alerts.Rules(ctx)
	if err != nil {
		return nil, err
	}
	list := AlertList{Items: make([]AlertItem, 0, len(rules))}
	for i := range rules {
		list.Items = append(list.Items, alertItem(&rules[i]))
	}
	return ListAlerts200JSONResponse(list), nil
}

func alertItem(e *alert.Entry[alerting.Rule]) AlertItem {
	return AlertItem{Definition: e.Doc, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Author: e.Author, Revision: e.Revision}
}

// GetAlert answers GET /alerts/rules/{alert}.
func (h *handlers) GetAlert(ctx context.Context, r GetAlertRequestObject) (GetAlertResponseObject, error) {
	if err := job.CheckSlug("alert", r.Alert); err != nil {
		return nil, err
	}
	e, err := h.alerts.Rule(ctx, r.Alert)
	if err != nil {
		return nil, err
	}
	return GetAlert200JSONResponse{Body: alertItem(e), Headers: GetAlert200ResponseHeaders{ETag: etag(e.Revision)}}, nil
}

// PutAlert answers PUT /alerts/rules/{alert}.
func (h *handlers) PutAlert(ctx context.Context, r PutAlertRequestObject) (PutAlertResponseObject, error) {
	if r.Body.Alert != r.Alert {
		return nil, invalid("alert", fmt.Sprintf("%q must be %q, as in the path", r.Body.Alert, r.Alert))
	}
	edit, err := editOf(author(ctx), "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, now, changed, err := h.alerts.PutRule(ctx, *r.Body, edit)
	if err != nil {
		return nil, conditional(edit, err)
	}
	var before any
	if was != nil {
		before = was.Doc
	}
	if err := describe(ctx, changed, "", before, now.Doc); err != nil {
		return nil, err
	}
	return PutAlert200JSONResponse{Body: alertItem(now), Headers: PutAlert200ResponseHeaders{ETag: etag(now.Revision)}}, nil
}

// DeleteAlert answers DELETE /alerts/rules/{alert}.
func (h *handlers) DeleteAlert(ctx context.Context, r DeleteAlertRequestObject) (DeleteAlertResponseObject, error) {
	edit, err := editOf(author(ctx), "", r.Params.IfMatch, "")
	if err == nil {
		err = job.CheckSlug("alert", r.Alert)
	}
	if err != nil {
		return nil, err
	}
	if err := h.alerts.DeleteRule(ctx, r.Alert, edit); err != nil {
		return nil, conditional(edit, err)
	}
	return DeleteAlert204Response{}, nil
}

// ListIncidents answers GET /alerts/incidents.
func (h *handlers) ListIncidents(ctx context.Context, r ListIncidentsRequestObject) (ListIncidentsResponseObject, error) {
	p := r.Params
	sees, now := seesIncident(ctx), time.Now()
	fits := func(inc *alerting.Incident) bool {
		return sees(inc) && isIn(inc, p.State, now) && (p.Alert == "" || inc.Rule == p.Alert) &&
			(p.Group == "" || inc.Group == p.Group) &&
			(p.Job == "" || slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool { return string(a.Job) == p.Job }))
	}
	kept := logstore.FactFilter{State: p.State, What: p.Alert, Group: p.Group}
	if p.State != "" && p.State != string(alerting.Resolved) {
		kept.State = string(alerting.Open)
	}
	list, next, err := h.findIncidents(ctx, kept, fits, p.Cursor, orDefault(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	page := IncidentPage{Items: list, Next: next}
	for i := range page.Items {
		page.Items[i] = shownIncident(&page.Items[i])
	}
	return ListIncidents200JSONResponse(page), nil
}

// isIn reports whether an incident is in a state of the contract: what is open fires,
// unless it is acknowledged or snoozed.
func isIn(inc *alerting.Incident, state string, now time.Time) bool {
	snoozed, acknowledged := inc.IsSnoozed(now), !inc.AcknowledgedAt.IsZero()
	switch state {
	case "firing":
		return inc.State == alerting.Open && !snoozed && !acknowledged
	case "acknowledged":
		return inc.State == alerting.Open && !snoozed && acknowledged
	case "snoozed":
		return snoozed
	}
	return state == "" || string(inc.State) == state
}

// shownIncident returns an incident without what is the alerter's own.
func shownIncident(inc *alerting.Incident) alerting.Incident {
	shown := *inc
	shown.Seen = nil
	return shown
}

// seesIncident returns a function that reports whether the caller sees an incident. One of
// no group concerns several, or the cluster.
func seesIncident(ctx context.Context) func(*alerting.Incident) bool {
	access := whoIs(ctx).Access
	return func(inc *alerting.Incident) bool { return access.May(rights.Viewer, groupOf(inc)) }
}

func groupOf(inc *alerting.Incident) string {
	if inc.Group == "" {
		return rights.Everywhere
	}
	return inc.Group
}

// groupOfIncident returns the group of the incident that a path names, as it is stored.
func (h *handlers) groupOfIncident(c *fiber.Ctx) (string, error) {
	inc, err := h.incident(c.UserContext(), c.Params("incident"))
	if err != nil {
		return "", err
	}
	return groupOf(inc), nil
}

// GetIncident answers GET /alerts/incidents/{incident}.
func (h *handlers) GetIncident(ctx context.Context, r GetIncidentRequestObject) (GetIncidentResponseObject, error) {
	inc, err := h.incident(ctx, r.Incident)
	if err != nil {
		return nil, err
	}
	return GetIncident200JSONResponse(shownIncident(inc)), nil
}

// AcknowledgeIncident answers POST /alerts/incidents/{incident}/acknowledge.
func (h *handlers) AcknowledgeIncident(ctx context.Context, r AcknowledgeIncidentRequestObject) (AcknowledgeIncidentResponseObject, error) {
	inc, err := h.alerts.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		inc.Acknowledge(author(ctx), r.Body.Note, time.Now().UTC().Truncate(time.Millisecond))
	})
	if err != nil {
		return nil, err
	}
	entryOfChange(ctx).Note = r.Body.Note
	return AcknowledgeIncident200JSONResponse(shownIncident(inc)), nil
}

// ResolveIncident answers POST /alerts/incidents/{incident}/resolve.
func (h *handlers) ResolveIncident(ctx context.Context, r ResolveIncidentRequestObject) (ResolveIncidentResponseObject, error) {
	inc, err := h.alerts.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		inc.Resolve(author(ctx), r.Body.Note, time.Now().UTC().Truncate(time.Millisecond))
	})
	if err != nil {
		return nil, err
	}
	entryOfChange(ctx).Note = r.Body.Note
	return ResolveIncident200JSONResponse(shownIncident(inc)), nil
}

// SnoozeIncident answers POST /alerts/incidents/{incident}/snooze.
func (h *handlers) SnoozeIncident(ctx context.Context, r SnoozeIncidentRequestObject) (SnoozeIncidentResponseObject, error) {
	lasts := r.Body.Lasts.Std()
	if err := alerting.CheckSnooze(lasts); err != nil {
		return nil, err
	}
	inc, err := h.alerts.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		now := time.Now().UTC().Truncate(time.Millisecond)
		if lasts == 0 {
			inc.Wake(now)
		} else {
			inc.Snooze(author(ctx), r.Body.Note, now, now.Add(lasts))
		}
	})
	if err != nil {
		return nil, err
	}
	entryOfChange(ctx).Note = r.Body.Note
	return SnoozeIncident200JSONResponse(shownIncident(inc)), nil
}

// ListDeliveries answers GET /alerts/deliveries.
func (h *handlers) ListDeliveries(ctx context.Context, r ListDeliveriesRequestObject) (ListDeliveriesResponseObject, error) {
	p := r.Params
	limit := orDefault(p.Limit, pageSize)
	incidents, err := h.alerts.Incidents(ctx, func(*alerting.Incident) bool { return true })
	if err != nil {
		return nil, err
	}
	sees := seesIncident(ctx)
	list := DeliveryList{Items: []DeliveryItem{}}
	present := map[string]bool{}
	for i := range incidents {
		inc := &incidents[i]
		present[inc.ID] = true
		if !sees(inc) {
			continue
		}
		for _, d := range slices.Backward(inc.Deliveries) {
			if (p.Channel == "" || d.Channel == p.Channel) && (p.State == "" || string(d.State) == p.State) && len(list.Items) < limit {
				list.Items = append(list.Items, DeliveryItem{Incident: inc.ID, Summary: inc.Summary, Delivery: d})
			}
		}
	}
	old, err := h.oldDeliveries(ctx, logstore.FactFilter{Object: p.Channel, State: p.State}, present, limit-len(list.Items))
	list.Items = append(list.Items, old...)
	return ListDeliveries200JSONResponse(list), err
}

// ListSilences answers GET /alerts/silences.
func (h *handlers) ListSilences(ctx context.Context, _ ListSilencesRequestObject) (ListSilencesResponseObject, error) {
	list, err := h.alerts.Silences(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	access := whoIs(ctx).Access
	list = slices.DeleteFunc(list, func(s alerting.Silence) bool {
		group := s.Group
		if s.Job != "" {
			group = s.Job.Group()
		}
		return group != "" && !access.May(rights.Viewer, group)
	})
	return ListSilences200JSONResponse{Items: list}, nil
}

// AddSilence answers POST /alerts/silences.
func (h *handlers) AddSilence(ctx context.Context, r AddSilenceRequestObject) (AddSilenceResponseObject, error) {
	b := r.Body
	s, err := alerting.NewSilence(alerting.Silence{Rule: b.Alert, Group: b.ExecutorGroup, Job: job.Name(b.Job), Reason: b.Reason}, b.Lasts.Std(), author(ctx), time.Now().Truncate(time.Millisecond))
	if err != nil {
		return nil, err
	}
	if err := h.alerts.AddSilence(ctx, s); err != nil {
		return nil, err
	}
	if err := describe(ctx, true, b.Reason, nil, *s); err != nil {
		return nil, err
	}
	return AddSilence201JSONResponse(*s), nil
}

// EndSilence answers DELETE /alerts/silences/{silence}.
func (h *handlers) EndSilence(ctx context.Context, r EndSilenceRequestObject) (EndSilenceResponseObject, error) {
	if err := h.alerts.EndSilence(ctx, r.Silence); err != nil {
		return nil, err
	}
	return EndSilence204Response{}, nil
}

// ListChannels answers GET /alerts/channels.
func (h *handlers) ListChannels(ctx context.Context, _ ListChannelsRequestObject) (ListChannelsResponseObject, error) {
	channels, err := h.alerts.Channels(ctx)
	if err != nil {
		return nil, err
	}
	list := ChannelList{Items: make([]ChannelItem, 0, len(channels))}
	for i := range channels {
		list.Items = append(list.Items, channelItem(&channels[i]))
	}
	return ListChannels200JSONResponse(list), nil
}

func channelItem(e *alert.Entry[alerting.Channel]) ChannelItem {
	return ChannelItem{
		Definition: e.Doc, Secrets: append([]string{}, slices.Sorted(maps.Keys(e.Sealed))...), Missing: append([]string{}, e.Doc.Missing(e.Sealed)...),
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Author: e.Author, Revision: e.Revision,
	}
}

// GetChannel answers GET /alerts/channels/{channel}.
func (h *handlers) GetChannel(ctx context.Context, r GetChannelRequestObject) (GetChannelResponseObject, error) {
	if err := job.CheckSlug("channel", r.Channel); err != nil {
		return nil, err
	}
	e, err := h.alerts.Channel(ctx, r.Channel)
	if err != nil {
		return nil, err
	}
	return GetChannel200JSONResponse{Body: channelItem(e), Headers: GetChannel200ResponseHeaders{ETag: etag(e.Revision)}}, nil
}

// PutChannel answers PUT /alerts/channels/{channel}.
func (h *handlers) PutChannel(ctx context.Context, r PutChannelRequestObject) (PutChannelResponseObject, error) {
	if r.Body.Channel != r.Channel {
		return nil, invalid("channel", fmt.Sprintf("%q must be %q, as in the path", r.Body.Channel, r.Channel))
	}
	edit, err := editOf(author(ctx), "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, now, changed, err := h.alerts.PutChannel(ctx, *r.Body, edit)
	if err != nil {
		return nil, conditional(edit, err)
	}
	var before any
	if was != nil {
		before = withoutHeaders(was.Doc)
	}
	if err := describe(ctx, changed, "", before, withoutHeaders(now.Doc)); err != nil {
		return nil, err
	}
	return PutChannel200JSONResponse{Body: channelItem(now), Headers: PutChannel200ResponseHeaders{ETag: etag(now.Revision)}}, nil
}

// withoutHeaders returns a channel for the audit log: the values of headers may be
// passwords.
func withoutHeaders(c alerting.Channel) alerting.Channel {
	c.Headers = hiddenValues(c.Headers)
	return c
}

// DeleteChannel answers DELETE /alerts/channels/{channel}.
func (h *handlers) DeleteChannel(ctx context.Context, r DeleteChannelRequestObject) (DeleteChannelResponseObject, error) {
	edit, err := editOf(author(ctx), "", r.Params.IfMatch, "")
	if err == nil {
		err = job.CheckSlug("channel", r.Channel)
	}
	if err != nil {
		return nil, err
	}
	if err := h.alerts.DeleteChannel(ctx, r.Channel, edit); err != nil {
		return nil, conditional(edit, err)
	}
	return DeleteChannel204Response{}, nil
}

// PutChannelSecret answers PUT /alerts/channels/{channel}/secrets/{secret}.
func (h *handlers) PutChannelSecret(ctx context.Context, r PutChannelSecretRequestObject) (PutChannelSecretResponseObject, error) {
	switch {
	case h.master == nil:
		return nil, explain(fmt.Errorf("%w: set secret %s of channel %s", job.ErrConflict, r.Secret, r.Channel),
			"this server has no key for secrets; make one with \"carillon secret keygen\", and start the servers with --master-key FILE")
	case r.Body.Value == "":
		return nil, invalid("value", "is empty; delete the secret instead")
	}
	e, err := h.setChannelSecret(ctx, r.Channel, r.Secret, r.Body.Value)
	if err != nil {
		return nil, err
	}
	return PutChannelSecret200JSONResponse(channelItem(e)), nil
}

// DeleteChannelSecret answers DELETE /alerts/channels/{channel}/secrets/{secret}.
func (h *handlers) DeleteChannelSecret(ctx context.Context, r DeleteChannelSecretRequestObject) (DeleteChannelSecretResponseObject, error) {
	if _, err := h.setChannelSecret(ctx, r.Channel, r.Secret, ""); err != nil {
		return nil, err
	}
	return DeleteChannelSecret204Response{}, nil
}

func (h *handlers) setChannelSecret(ctx context.Context, channel, name, value string) (*alert.Entry[alerting.Channel], error) {
	if err := job.CheckSlug("channel", channel); err != nil {
		return nil, err
	}
	return h.alerts.SetSecret(ctx, h.master, channel, name, value, cluster.Edit{At: time.Now(), Author: author(ctx)})
}

// testWait is how long the answer to a test waits for the outcome.
const testWait = 20 * time.Second

// TestChannel answers POST /alerts/channels/{channel}/test.
func (h *handlers) TestChannel(ctx context.Context, r TestChannelRequestObject) (TestChannelResponseObject, error) {
	if err := job.CheckSlug("channel", r.Channel); err != nil {
		return nil, err
	}
	inc, err := h.alerts.Test(ctx, r.Channel, author(ctx))
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, testWait, errors.New("the test has no outcome yet"))
	defer cancel()
	if done, err := h.alerts.Tested(waiting, inc.ID); err == nil {
		inc = done
	} else if waiting.Err() == nil {
		return nil, err
	}
	return TestChannel200JSONResponse(shownIncident(inc)), nil
}
