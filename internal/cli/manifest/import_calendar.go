package manifest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/ical"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

// calendarOptions are the flags of import calendar.
type calendarOptions struct {
	ical.Options
	name            string
	replace, dryRun bool
}

func newImportCalendarCommand() *cobra.Command {
	var o calendarOptions
	cmd := &cobra.Command{
		Use:   "calendar FILE --name CALENDAR",
		Short: "Import a calendar from an iCalendar file (.ics)",
		Long: "Import a calendar from an iCalendar file (.ics; - for standard input), as exported by Google,\n" +
			"Apple or Outlook. Print the result for each event, and which fires of the next year the calendar\n" +
			"affects. All-day events are imported, from the first day of this year on. Events that recur on a\n" +
			"fixed date every year, or on weekdays, stay recurring; other events without an end are expanded\n" +
			"for some years.\n\n" +
			"Events that last part of a day, are cancelled or are over are left out. A file with a date rule\n" +
			"that Carillon does not understand is refused, with the line number.\n\n" +
			"Dates that the calendar already has are kept, unless --replace is set.\n\n" +
			"With -o yaml or -o json, print the calendar as a document for \"carillon apply\". Nothing is saved,\n" +
			"and no server is needed.",
		Example: "  carillon import calendar holidays.ics --name holidays --dry-run\n" +
			"  carillon import calendar holidays.ics --name holidays --replace\n" +
			"  curl -s https://example.org/holidays.ics | carillon import calendar - --name holidays --zone Europe/Berlin",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "the `calendar` to save")
	f.StringVar(&o.Zone, "zone", "", "time `zone` of the dates (default: of the calendar, else of the file, else of this machine)")
	f.IntVar(&o.Years, "years", 5, fmt.Sprintf("number of years to expand events that recur without end, at most %d", ical.MaxYears))
	f.BoolVar(&o.replace, "replace", false, "replace the dates and windows of the calendar")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the result for each event without saving")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckSlug("calendar", o.name); err != nil {
			return cli.Usage(fmt.Errorf("set the name of the calendar with --name: %w", err))
		}
		if o.Years < 1 {
			return cli.Usage(fmt.Errorf("--years %d must be at least 1", o.Years))
		}
		data, err := readImport("calendar", args[0], cmd.InOrStdin(), ical.MaxFile)
		if err != nil {
			return nothingChanged(err)
		}
		o.From = time.Date(time.Now().UTC().Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
		if !r.Output.IsData() {
			return importCalendar(r, cmd, args[0], data, o)
		}
		_, wish, err := o.read(cmd.Context(), args[0], data, job.Calendar{})
		if err != nil {
			return nothingChanged(err)
		}
		return r.Show(cmd.OutOrStdout(), wish, nil)
	}
	return cmd
}

// read returns what is in the file, and the calendar that was as it is with that.
func (o calendarOptions) read(ctx context.Context, file string, data []byte, was job.Calendar) (*ical.Calendar, job.Calendar, error) {
	o.Zone = cmp.Or(o.Zone, was.Zone)
	got, err := ical.Import(ctx, data, o.Options)
	if err != nil {
		if problems := job.Problems(err); len(problems) > 0 {
			var all []error
			for _, p := range problems {
				all = append(all, fmt.Errorf("%s: %w", file, p))
			}
			err = errors.Join(all...)
		}
		return nil, was, err
	}
	wish := was
	wish.Calendar, wish.Zone = o.name, cmp.Or(got.Zone, cli.LocalZone())
	wish.Description = cmp.Or(was.Description, got.Title)
	if o.replace {
		wish.Dates, wish.Windows = nil, nil
	}
	wish.Dates = joinDates(wish.Dates, got.Dates)
	wish.Windows = slices.Clone(wish.Windows)
	for _, w := range got.Windows {
		if !slices.Contains(wish.Windows, w) {
			wish.Windows = append(wish.Windows, w)
		}
	}
	return got, wish, wish.Validate()
}

// joinDates returns all dates of two lists, those of every year first.
func joinDates(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)) })
	return slices.Compact(all)
}

// importCalendar saves the calendar, and shows what became of each event.
func importCalendar(r *cli.Remote, cmd *cobra.Command, file string, data []byte, o calendarOptions) error {
	api, err := r.API()
	if err != nil {
		return nothingChanged(err)
	}
	ctx := cmd.Context()
	was, err := client.Read[client.CalendarItem](api.GetCalendar(ctx, o.name))
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nothingChanged(err)
	}
	got, wish, err := o.read(ctx, file, data, was.Definition.Calendar)
	if err != nil {
		return nothingChanged(err)
	}
	text, err := json.Marshal(wish)
	if err != nil {
		return nothingChanged(fmt.Errorf("encode calendar %s: %w", o.name, err))
	}
	fires, err := previewCalendar(ctx, api, o.name, text)
	if err != nil {
		return nothingChanged(err)
	}
	p := planner{api: api}
	changes, err := p.plan(ctx, []manifest.Document{{Kind: manifest.Calendar, Name: o.name, JSON: text, File: file, Line: 1}})
	if err != nil {
		return nothingChanged(err)
	}
	if !o.dryRun {
		if err := carryOut(ctx, p, changes); err != nil {
			return err
		}
	}
	return cli.AsTable.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), nil, func(t *draw.Table) { drawCalendarFile(t, got, wish, fires, changes[0].Result, o.dryRun) })
}

// previewCalendar asks which fires saving a calendar would affect.
func previewCalendar(ctx context.Context, api *client.API, name string, document []byte) (client.CalendarPreview, error) {
	return client.Read[client.CalendarPreview](api.PreviewCalendarWithBody(ctx, name, "application/json", bytes.NewReader(document)))
}

func drawCalendarFile(t *draw.Table, got *ical.Calendar, wish job.Calendar, fires client.CalendarPreview, result string, dryRun bool) {
	t.Row("LINE", "OUTCOME", "DATES", "EVENT", "NOTE")
	left := 0
	for _, e := range got.Events {
		if e.Outcome == ical.LeftOut {
			left++
		}
		t.Row(strconv.Itoa(e.Line), string(e.Outcome), t.Cell(datesOf(e), 40), t.Cell(cmp.Or(e.Title, "-"), 40), t.Cell(cmp.Or(e.Note, "-"), draw.NoteWidth))
	}
	t.Line("")
	for _, j := range fires.Jobs {
		if j.Skipped+j.Released == 0 {
			continue
		}
		t.Line(fmt.Sprintf("%s: %s", j.Job, affectedWords(j.Skipped, j.Released)))
	}
	if fires.Skipped+fires.Released > 0 {
		t.Line("Within a year " + affectedWords(fires.Skipped, fires.Released))
	} else {
		t.Line("It affects no fire within a year; jobs that refer to it: " + strconv.Itoa(len(fires.Jobs)))
	}
	if !fires.Complete {
		t.Line("There were too many fires to check all of them")
	}
	text := fmt.Sprintf("calendar %s %s: %s, %s, zone %s; %d of %s left out",
		wish.Calendar, result, draw.Count(len(wish.Dates), "date"), draw.Count(len(wish.Windows), "window"), wish.Zone, left, draw.Count(len(got.Events), "event"))
	if dryRun {
		text += " (dry run: nothing was saved)"
	}
	t.Line(text)
}

// datesOf tells the days of an event: the first, and how many more there are.
func datesOf(e ical.Event) string {
	switch {
	case len(e.Windows) > 0:
		return "every " + e.Windows[0].Days
	case len(e.Dates) == 0:
		return "-"
	case len(e.Dates) <= 3:
		return strings.Join(e.Dates, " ")
	}
	return fmt.Sprintf("%s and %d more", e.Dates[0], len(e.Dates)-1)
}

// affectedWords tells how many fires a calendar affects.
func affectedWords(skipped, released int) string {
	var parts []string
	if skipped > 0 {
		parts = append(parts, draw.Count(skipped, "more fire")+" will be skipped")
	}
	if released > 0 {
		parts = append(parts, draw.Count(released, "skipped fire")+" will run after all")
	}
	return strings.Join(parts, ", ")
}
