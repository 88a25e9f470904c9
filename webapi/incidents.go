package webapi

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/alerts"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// ListIncidents answers GET /alerts/incidents.
func (h *alertHandlers) ListIncidents(ctx context.Context, r ListIncidentsRequestObject) (*IncidentPage, error) {
	found, err := h.alerts.Incidents(ctx, &r.Params)
	return &found, err
}

// groupOfIncident returns the group of the incident that a path names, as it is stored.
func (h *alertHandlers) groupOfIncident(c *fiber.Ctx) (string, error) {
	inc, err := h.alerts.Incident(c.UserContext(), c.Params("incident"))
	if err != nil {
		return "", err
	}
	return alerts.GroupOf(inc), nil
}

// GetIncident answers GET /alerts/incidents/{incident}.
func (h *alertHandlers) GetIncident(ctx context.Context, r GetIncidentRequestObject) (*Incident, error) {
	inc, err := h.alerts.Incident(ctx, r.Incident)
	if err != nil {
		return nil, err
	}
	return new(alerts.Shown(inc)), nil
}

// AcknowledgeIncident answers POST /alerts/incidents/{incident}/acknowledge.
func (h *alertHandlers) AcknowledgeIncident(ctx context.Context, r AcknowledgeIncidentRequestObject) (*Incident, error) {
	inc, err := h.book.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		inc.Acknowledge(access.Author(ctx), r.Body.Note, time.Now().UTC().Truncate(time.Millisecond))
	})
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Note = r.Body.Note
	return new(alerts.Shown(inc)), nil
}

// ResolveIncident answers POST /alerts/incidents/{incident}/resolve.
func (h *alertHandlers) ResolveIncident(ctx context.Context, r ResolveIncidentRequestObject) (*Incident, error) {
	inc, err := h.book.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		inc.Resolve(access.Author(ctx), r.Body.Note, time.Now().UTC().Truncate(time.Millisecond))
	})
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Note = r.Body.Note
	return new(alerts.Shown(inc)), nil
}

// SnoozeIncident answers POST /alerts/incidents/{incident}/snooze.
func (h *alertHandlers) SnoozeIncident(ctx context.Context, r SnoozeIncidentRequestObject) (*Incident, error) {
	lasts := r.Body.Lasts.Std()
	if err := alerting.CheckSnooze(lasts); err != nil {
		return nil, err
	}
	inc, err := h.book.EditIncident(ctx, r.Incident, func(inc *alerting.Incident) {
		now := time.Now().UTC().Truncate(time.Millisecond)
		if lasts == 0 {
			inc.Wake(now)
		} else {
			inc.Snooze(access.Author(ctx), r.Body.Note, now, now.Add(lasts))
		}
	})
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Note = r.Body.Note
	return new(alerts.Shown(inc)), nil
}

// ListDeliveries answers GET /alerts/deliveries.
func (h *alertHandlers) ListDeliveries(ctx context.Context, r ListDeliveriesRequestObject) (*DeliveryList, error) {
	found, err := h.alerts.Deliveries(ctx, &r.Params)
	return &found, err
}
