package webapi

import (
	"bytes"
	"context"
	"encoding/csv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/export"
	"github.com/carillon-scheduler/carillon/webapi/month"
)

// ReportMonth answers GET /reports/month.
func (h *reportHandlers) ReportMonth(ctx context.Context, r ReportMonthRequestObject) (*MonthReport, error) {
	p := r.Params
	return h.month(ctx, p.Month, p.Zone, catalog.Of{Group: p.Group, Owner: p.Owner, Tag: p.Tag})
}

func (h *reportHandlers) month(ctx context.Context, name, zone string, of catalog.Of) (*MonthReport, error) {
	location, err := zoneOf(zone)
	if err != nil {
		return nil, err
	}
	return h.months.Read(ctx, month.Request{Month: name, Zone: location, Of: of}, time.Now())
}

// serveMonthExport answers GET /reports/month/export: the report as CSV.
func (h *reportHandlers) serveMonthExport(c *fiber.Ctx) error {
	name := c.Query("month")
	report, err := h.month(c.UserContext(), name, c.Query("zone"), catalog.Of{Group: c.Query("group"), Owner: c.Query("owner"), Tag: c.Query("tag")})
	if err != nil {
		return err
	}
	var file bytes.Buffer
	out := csv.NewWriter(&file)
	if err := out.Write(month.Head); err != nil {
		return err
	}
	for _, row := range month.Rows(report) {
		row[1] = export.CellText(row[1]) // the only one that others have written
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="month-`+name+`.csv"`)
	return c.Send(file.Bytes())
}
