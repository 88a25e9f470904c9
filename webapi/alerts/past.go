package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// factsAtOnce is how many facts are read from the store at a time, to leave out those
// that do not fit.
const factsAtOnce = 1000

// find returns a page of the incidents that fit, the newest first: those that
// the bucket has, and from the log store those that it has no more. While one of the two
// is away, the other answers alone.
func (a *Alerts) find(ctx context.Context, kept logstore.FactFilter, fits func(*alerting.Incident) bool, cursor string, limit int) (list []alerting.Incident, next string, err error) {
	present, fitting := map[string]bool{}, []alerting.Incident{}
	all, busErr := a.book.Incidents(ctx, func(*alerting.Incident) bool { return true })
	for i := range all {
		present[all[i].ID] = true
		if fits(&all[i]) {
			fitting = append(fitting, all[i])
		}
	}
	place := func(inc *alerting.Incident) logstore.FactCursor {
		return logstore.FactCursor{At: inc.OpenedAt, ID: inc.ID}
	}
	after, err := incidentCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	kept.Kind, kept.Limit = logstore.FactIncident, factsAtOnce
	if after != nil {
		kept.Cursor = after.String()
	}
	var past []alerting.Incident
	more := true
	for more && len(past) <= limit {
		page, err := a.store.Facts(ctx, kept)
		if err != nil && busErr != nil {
			return nil, "", busErr
		}
		if err != nil {
			a.log.DebugContext(ctx, "old incidents left out", "error", err)
			more = false
			break
		}
		for i := range page.Facts {
			inc, err := incidentOf(&page.Facts[i])
			if err != nil {
				return nil, "", err
			}
			if !present[inc.ID] && fits(inc) {
				past = append(past, *inc)
			}
		}
		kept.Cursor, more = page.Next, page.Next != ""
	}
	list, next = auditlog.JoinPages(fitting, past, more, after, limit, place)
	if list == nil {
		list = []alerting.Incident{}
	}
	_, next, _ = strings.Cut(next, ".") // the id alone says all
	return list, next, nil
}

// bySeverity are the severities, the gravest first.
var bySeverity = []alerting.Severity{alerting.Critical, alerting.Warning, alerting.Info}

// findGravest is find with the gravest first. A cursor names a severity, and after a dot the last
// incident of it; without one, its incidents begin.
func (a *Alerts) findGravest(ctx context.Context, kept logstore.FactFilter, fits func(*alerting.Incident) bool, cursor string, limit int) (list []alerting.Incident, next string, err error) {
	list = []alerting.Incident{}
	at, last, _ := strings.Cut(cursor, ".")
	from := max(slices.Index(bySeverity, alerting.Severity(at)), 0)
	if cursor != "" && bySeverity[from] != alerting.Severity(at) {
		return nil, "", job.Invalid("cursor", "must be the value of next from the previous page")
	}
	for _, severity := range bySeverity[from:] {
		if len(list) == limit {
			return list, string(severity) + ".", nil
		}
		found, rest, err := a.find(ctx, kept, func(inc *alerting.Incident) bool { return inc.Severity == severity && fits(inc) }, last, limit-len(list))
		if err != nil {
			return nil, "", err
		}
		list, last = append(list, found...), ""
		if rest != "" {
			return list, string(severity) + "." + rest, nil
		}
	}
	return list, "", nil
}

// incidentCursor reads the id of an incident, which begins with the instant at which it
// was opened, as a cursor; nil for none.
func incidentCursor(id string) (*logstore.FactCursor, error) {
	if id == "" {
		return nil, nil
	}
	const digits = 9
	if len(id) <= digits {
		return nil, job.Invalid("cursor", "must be the value of next from the previous page")
	}
	ms, err := strconv.ParseInt(id[:digits], 32, 64)
	if err != nil {
		return nil, job.Invalid("cursor", "must be the value of next from the previous page")
	}
	c, err := logstore.ParseFactCursor(strconv.FormatInt(ms, 10) + "." + id)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func incidentOf(f *logstore.Fact) (*alerting.Incident, error) {
	inc := &alerting.Incident{}
	if err := json.Unmarshal(f.Doc, inc); err != nil {
		return nil, fmt.Errorf("decode incident %s: %w", f.ID, err)
	}
	return inc, nil
}

// Incident returns an incident, however old. The error is job.ErrNotFound when there is
// none.
func (a *Alerts) Incident(ctx context.Context, id string) (*alerting.Incident, error) {
	inc, err := a.book.Incident(ctx, id)
	if !errors.Is(err, job.ErrNotFound) {
		return inc, err
	}
	page, storeErr := a.store.Facts(ctx, logstore.FactFilter{Kind: logstore.FactIncident, ID: id, Limit: 1})
	if storeErr != nil {
		return nil, problem.StoreAway(storeErr)
	}
	if len(page.Facts) == 0 {
		return nil, err
	}
	return incidentOf(&page.Facts[0])
}

// oldDeliveries returns at most so many messages about incidents that are not present.
func (a *Alerts) oldDeliveries(ctx context.Context, f logstore.FactFilter, present map[string]bool, limit int) ([]api.DeliveryItem, error) {
	channel := f.Object
	f.Kind, f.Limit = logstore.FactDelivery, factsAtOnce
	var list []api.DeliveryItem
	for len(list) < limit {
		page, err := a.store.Facts(ctx, f)
		if err != nil {
			a.log.DebugContext(ctx, "old messages of alerts left out", "error", err)
			return list, nil // those of the last month are there
		}
		for i := range page.Facts {
			var item api.DeliveryItem
			if err := json.Unmarshal(page.Facts[i].Doc, &item); err != nil {
				return nil, fmt.Errorf("decode delivery %s: %w", page.Facts[i].ID, err)
			}
			if !present[item.Incident] && (channel == "" || item.Delivery.Channel == channel) && len(list) < limit {
				list = append(list, item)
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return list, nil
}
