package month

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// Mailer gives the alerter the reports that channels mail. Several nodes may do that: the alerter sends
// one report for a month of a channel. It is safe for concurrent use.
type Mailer struct {
	reports *Reporter
	book    *alert.Store
}

// NewMailer returns a mailer of reports to the channels of a book.
func NewMailer(reports *Reporter, book *alert.Store) *Mailer { return &Mailer{reports, book} }

// Round makes the reports that are due and not made yet. A report that cannot be made does not keep
// others from being made. Only administrators save channels, so a report covers every group.
func (m *Mailer) Round(ctx context.Context, now time.Time) error {
	ctx = access.Unlimited(ctx)
	channels, err := m.book.Channels(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range channels {
		if c := &channels[i].Doc; c.Month != nil && !c.Disabled {
			if err := m.report(ctx, c, now); err != nil {
				errs = append(errs, fmt.Errorf("report the month to channel %s: %w", c.Channel, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (m *Mailer) report(ctx context.Context, c *alerting.Channel, now time.Time) error {
	reader := c.Reader()
	month := c.Month.Due(now, reader.Zone)
	if month == "" {
		return nil
	}
	mail, err := alerting.NewReport(c, month, now)
	if err != nil {
		return err
	}
	if _, err := m.book.Incident(ctx, mail.ID); !errors.Is(err, job.ErrNotFound) {
		return err
	}
	r, err := m.reports.Read(ctx, Request{Month: month, Zone: reader.Zone, Of: catalog.Of{Group: c.Month.Group, Owner: c.Month.Owner, Tag: c.Month.Tag}}, now)
	invalid, isInvalid := errors.AsType[*job.InvalidError](err)
	switch {
	case isInvalid: // such as an owner who has no job any more: people should hear of that
		mail.Report.Text = reader.Reason(invalid.Reason)
	case err != nil:
		return err
	default:
		mail.Report.Text = Text(r, reader)
	}
	return m.book.AddReport(ctx, mail)
}
