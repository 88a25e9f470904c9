package cli

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
)

func TestNothingIsCutInAFile(t *testing.T) {
	long := strings.Repeat("long ", 100)
	fill := func(t *draw.Table) { t.Row("x", t.Cell(long, draw.NoteWidth)); t.Line(t.ShortJSON(long)) }
	var file strings.Builder
	if err := AsTable.Show(&file, draw.Clock{}, nil, fill); err != nil || strings.Contains(file.String(), "…") || strings.Count(file.String(), "long") != 200 {
		t.Errorf("a file has (%v)\n%s", err, file.String())
	}
	var shown strings.Builder
	if err := AsTable.Show(draw.NewScreen(&shown), draw.Clock{}, nil, fill); err != nil || strings.Count(shown.String(), "…") != 2 {
		t.Errorf("a terminal has (%v)\n%s", err, shown.String())
	}
}

func TestNamesAreTheFirstColumn(t *testing.T) {
	fill := func(t *draw.Table) {
		t.Row("GROUP", "INSTANCE")
		t.Row("billing", "a")
		t.Row("billing", "b")
		t.Row("ops", t.Cell(strings.Repeat("c", 100), 10))
		t.Line("1 more")
	}
	var b strings.Builder
	if err := AsNames.Show(draw.NewScreen(&b), draw.Clock{}, nil, fill); err != nil || b.String() != "billing\nops\n" {
		t.Errorf("the names are %q, %v", b.String(), err)
	}
	about := func(t *draw.Table) { t.Row("state", "active") }
	if err := AsNames.Show(&b, draw.Clock{}, nil, about); err == nil {
		t.Error("what is no list has names")
	}
}
