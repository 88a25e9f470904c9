package main

import (
	"carillon/internal/client"
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newGetCalendarsCommand() *cobra.Command {
	return newListCommand(&cobra.Command{
		Use:     "calendars",
		Short:   "List calendars",
		Example: "  carillon get calendars -o yaml",
	}, func(ctx context.Context, api *client.API) (client.CalendarList, error) {
		return client.Read[client.CalendarList](api.ListCalendars(ctx))
	}, drawCalendars)
}

func drawCalendars(t *table, calendars client.CalendarList) {
	if len(calendars.Items) == 0 {
		t.line("no calendars")
		return
	}
	t.row("CALENDAR", "ZONE", "DATES", "WINDOWS", "DESCRIPTION")
	for _, c := range calendars.Items {
		d := c.Definition
		t.row(d.Calendar.Calendar, d.Zone, strconv.Itoa(len(d.Dates)), strconv.Itoa(len(d.Windows)), t.cell(d.Description, noteWidth))
	}
}
