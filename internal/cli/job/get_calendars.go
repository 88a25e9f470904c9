package job

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newGetCalendarsCommand() *cobra.Command {
	return cli.List[client.CalendarList]{
		Use:     "calendars",
		Short:   "List calendars",
		Example: "  carillon get calendars -o yaml",
		Fetch: func(ctx context.Context, api *client.API) (client.CalendarList, error) {
			return client.Read[client.CalendarList](api.ListCalendars(ctx))
		},
		Columns: drawCalendars,
	}.Command()
}

func drawCalendars(t *draw.Table, calendars client.CalendarList) {
	if len(calendars.Items) == 0 {
		t.Line("no calendars")
		return
	}
	t.Row("CALENDAR", "ZONE", "DATES", "WINDOWS", "DESCRIPTION")
	for _, c := range calendars.Items {
		d := c.Definition
		t.Row(d.Calendar.Calendar, d.Zone, strconv.Itoa(len(d.Dates)), strconv.Itoa(len(d.Windows)), t.Cell(d.Description, draw.NoteWidth))
	}
}
