package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// DrawChanges draws what was done to documents, or would be, and counts it.
func DrawChanges(t *draw.Table, changes []Change, dryRun bool) {
	count := map[string]int{}
	for _, c := range changes {
		count[c.Result]++
		t.Row(c.Result, string(c.Kind), c.Name)
		drawWarnings(t, c.Warnings)
		if c.Result != changed {
			continue
		}
		for _, f := range c.Fields {
			t.Line("    " + FieldChange(t, f))
		}
	}
	var parts []string
	for _, result := range []string{created, changed, deleted, unchanged} {
		if count[result] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[result], result))
		}
	}
	text := strings.Join(parts, ", ")
	if dryRun {
		text += " (dry run: nothing was saved)"
	}
	t.Line(text)
}

func drawWarnings(t *draw.Table, warnings []client.FieldError) {
	for _, w := range warnings {
		t.Line("    warning: " + w.Field + " " + string(w.Reason))
	}
}

// drawImportWarnings is drawWarnings for one of many imported jobs: what is said of their group comes once.
func drawImportWarnings(t *draw.Table, warnings []client.FieldError, said map[client.FieldError]bool) {
	drawWarnings(t, slices.DeleteFunc(slices.Clone(warnings), func(w client.FieldError) bool {
		again := w.Field == "job" && said[w]
		said[w] = true
		return again
	}))
}

// FieldChange tells how one field changed.
func FieldChange(t *draw.Table, f client.FieldChange) string {
	switch {
	case f.From == nil:
		return fmt.Sprintf("+ %s: %s", f.Field, t.ShortJSON(f.To))
	case f.To == nil:
		return fmt.Sprintf("- %s: %s", f.Field, t.ShortJSON(f.From))
	}
	from, to := draw.PlainJSON(f.From), draw.PlainJSON(f.To)
	if !t.Whole {
		from, to = aroundDifference(from, to)
	}
	return fmt.Sprintf("~ %s: %s -> %s", f.Field, t.Cell(from, draw.NoteWidth), t.Cell(to, draw.NoteWidth))
}

// aroundDifference leaves out the beginning that two texts have in common, but for the
// end of it, where one of them is too long to be shown whole: what is cut off at its
// end would else be the part in which they differ.
func aroundDifference(a, b string) (string, string) {
	const lead = 15 // how many runes of what is common stay
	from, to := []rune(a), []rune(b)
	if max(len(from), len(to)) <= draw.NoteWidth {
		return a, b
	}
	common := 0
	for common < min(len(from), len(to)) && from[common] == to[common] {
		common++
	}
	if common <= lead+1 {
		return a, b
	}
	return "…" + string(from[common-lead:]), "…" + string(to[common-lead:])
}
