package alerts

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// pageSize is how many incidents or messages a page has by default; the contract states it.
const pageSize = 100

// Alerts is safe for concurrent use. Who calls is in the context, see package access.
type Alerts struct {
	conn  *cluster.Conn
	book  *alert.Store
	store logstore.Store // as access.VisibleStore has it
	log   *slog.Logger
}

// New returns the alerts of a book, and of a store those that are over.
func New(conn *cluster.Conn, book *alert.Store, store logstore.Store, log *slog.Logger) *Alerts {
	return &Alerts{conn: conn, book: book, store: access.VisibleStore{Store: store}, log: log}
}

// Incidents returns a page of the incidents that match and the caller sees.
func (a *Alerts) Incidents(ctx context.Context, p *api.ListIncidentsParams) (api.IncidentPage, error) {
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
	find := a.find
	if p.Sort == "severity" {
		find = a.findGravest
	}
	list, next, err := find(ctx, kept, fits, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return api.IncidentPage{}, err
	}
	page := api.IncidentPage{Items: list, Next: next}
	for i := range page.Items {
		page.Items[i] = Shown(&page.Items[i])
	}
	return page, nil
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

// Shown returns an incident with the codes of its reasons, and without what is the alerter's own.
func Shown(inc *alerting.Incident) alerting.Incident {
	shown := inc.Explained()
	shown.Seen, shown.Others, shown.Report = nil, nil, nil
	return shown
}

// seesIncident returns a function that reports whether the caller sees an incident. One of
// no group concerns several, or the cluster.
func seesIncident(ctx context.Context) func(*alerting.Incident) bool {
	theirs := access.Who(ctx).Access
	return func(inc *alerting.Incident) bool { return theirs.May(rights.Viewer, GroupOf(inc)) }
}

// GroupOf returns the group of an incident, or all groups if it concerns several, or the cluster.
func GroupOf(inc *alerting.Incident) string {
	if inc.Group == "" {
		return rights.Everywhere
	}
	return inc.Group
}

// Deliveries returns the newest messages about incidents that the caller sees.
func (a *Alerts) Deliveries(ctx context.Context, p *api.ListDeliveriesParams) (api.DeliveryList, error) {
	made := logstore.RunFilter{From: p.From, To: p.To}
	if err := made.Validate(); err != nil {
		return api.DeliveryList{}, err
	}
	fits := func(d *alerting.Delivery) bool {
		return (p.Channel == "" || d.Channel == p.Channel) && (p.State == "" || string(d.State) == p.State) &&
			(p.From.IsZero() || !d.MadeAt.Before(p.From)) && (p.To.IsZero() || d.MadeAt.Before(p.To))
	}
	limit := cmp.Or(p.Limit, pageSize)
	incidents, err := a.book.Incidents(ctx, func(*alerting.Incident) bool { return true })
	if err != nil {
		return api.DeliveryList{}, err
	}
	sees := seesIncident(ctx)
	list := api.DeliveryList{Items: []api.DeliveryItem{}}
	present := map[string]bool{}
	for i := range incidents {
		inc := &incidents[i]
		present[inc.ID] = true
		if !sees(inc) {
			continue
		}
		for _, d := range slices.Backward(inc.Deliveries) {
			if fits(&d) && len(list.Items) < limit {
				list.Items = append(list.Items, api.DeliveryItem{Incident: inc.ID, Summary: inc.Summary, SummaryCode: inc.SummaryCode, SummaryParams: inc.SummaryParams, Delivery: d})
			}
		}
	}
	old, err := a.oldDeliveries(ctx, logstore.FactFilter{Object: p.Channel, State: p.State, From: p.From, To: p.To}, present, limit-len(list.Items))
	list.Items = append(list.Items, old...)
	for i := range list.Items {
		list.Items[i].SummaryReason = list.Items[i].SummaryParams.Reason()
	}
	return list, err
}
