package manifest

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/manifest"
)

func TestAChangeShowsThePartInWhichLongTextsDiffer(t *testing.T) {
	f := func(from, to any, want string) {
		t.Helper()
		if got := FieldChange(new(draw.Table), client.FieldChange{Field: "f", From: from, To: to}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	long := strings.Repeat("much of it is as it was; ", 10)
	f("a > b && c", "<a>", `~ f: "a > b && c" -> "<a>"`)
	f(long+"exit 1", long+"exit 2", `~ f: …s it was; exit 1" -> …s it was; exit 2"`)
	f("a"+long, "b"+long, `~ f: "amuch of it is as it was; much of it is as it was; much of… -> "bmuch of it is as it was; much of it is as it was; much of…`)
}

func TestChangesAreDrawn(t *testing.T) {
	drawtest.Golden(t, "changes", func(tab *draw.Table) {
		DrawChanges(tab, []Change{
			{Kind: manifest.Calendar, Name: "holidays", Result: created},
			{Kind: manifest.Job, Name: "ops/backup", Result: changed, Fields: []client.FieldChange{
				{Field: "schedule.cron", From: "0 3 * * *", To: "0 4 * * *"}, {Field: "task.env", To: map[string]any{"A": "b"}}, {Field: "timeout", From: "5m"},
			}},
			{Kind: manifest.Job, Name: "ops/pulse", Result: unchanged},
			{Kind: manifest.Job, Name: "ops/old", Result: deleted},
		}, true)
	})
}
