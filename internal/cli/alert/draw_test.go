package alert

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestIncidentsAreDrawn(t *testing.T) {
	list := []client.Incident{
		{ID: "1k7sk3t00a", Rule: "failures", Severity: "critical", State: "open", Group: "ops", Subject: "ops/backup", OpenedAt: drawtest.At("02:00:00.000"), Count: 3, Summary: "ops/backup failed"},
		{
			ID: "1k7sk3t00b", Rule: "late", Severity: "warning", State: "resolved", Group: "ops", Subject: "ops/report", OpenedAt: drawtest.At("01:00:00.000"), Count: 1, Summary: "ops/report is late",
			AcknowledgedBy: "ann", AcknowledgedAt: drawtest.At("01:10:00.000"), ResolvedAt: drawtest.At("01:30:00.000"),
		},
	}
	now := drawtest.At("02:00:00.000").Add(15 * time.Minute)
	drawtest.Golden(t, "incidents", func(tab *draw.Table) { drawIncidents(tab, list, now) })
	drawtest.Wide(t, "incidents-wide", func(tab *draw.Table) { drawIncidents(tab, list, now) })
}
