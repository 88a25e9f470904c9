package executor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func drawGroups(t *draw.Table, groups client.GroupList) {
	if len(groups.Items) == 0 {
		t.Line("no executor groups; start an executor")
		return
	}
	t.Row("GROUP", "STATE", "INSTANCE", "BUSY", "RUNS", "LABELS", "VERSION", "HOST", "LOAD", "LAST SEEN")
	for _, g := range groups.Items {
		if len(g.Instances) == 0 {
			t.Row(g.ExecutorGroup, string(g.State), "-", "-", "-", "-", "-", "-", "-", "-")
		}
		for _, i := range g.Instances {
			kinds := i.Kinds
			switch {
			case slices.Contains(i.Handlers, fleet.AnyHandler):
				kinds = append(slices.Clip(kinds), "any handler")
			case len(i.Handlers) > 0:
				kinds = append(slices.Clip(kinds), fmt.Sprintf("%d handlers", len(i.Handlers)))
			}
			t.Row(g.ExecutorGroup, string(i.State), t.Cell(i.Instance, 40), fmt.Sprintf("%d/%d", i.Running, i.Slots),
				t.Cell(strings.Join(kinds, ", "), 40), t.Cell(cmp.Or(i.Labels.String(), "-"), 40), t.Cell(i.Version, 20), t.Cell(i.Host, 30), hostLoad(i.Load), t.Instant(i.At))
		}
	}
	for _, g := range groups.Items {
		for _, i := range g.Instances {
			if i.Reason != "" {
				t.Line(fmt.Sprintf("instance %s of group %s: %s", i.Instance, g.ExecutorGroup, i.Reason))
			}
			if i.Refusal != nil {
				t.Line(fmt.Sprintf("instance %s of group %s: %s refused, the last because: %s", i.Instance, g.ExecutorGroup, draw.Count(i.Refused, "message"), i.Refusal.Reason))
			}
		}
		if g.Pause != nil {
			drawGroupPause(t, g)
		}
		if g.Suspended != "" {
			t.Line(fmt.Sprintf("group %s: %s", g.ExecutorGroup, g.Suspended))
		}
		if g.Limit > 0 || g.Rate > 0 {
			t.Line("group " + g.ExecutorGroup + " " + groupLimits(g))
		}
		drawWaiting(t, g)
	}
}

// drawWaiting says how many runs of a group wait for an executor, if any do. While the history
// does not answer, only those are known that wait for the dispatcher of a group.
func drawWaiting(t *draw.Table, g client.Group) {
	runs := g.Waiting
	if g.WaitingRuns != nil {
		runs = *g.WaitingRuns
	}
	if runs == 0 {
		return
	}
	text := fmt.Sprintf("group %s: %s waiting", g.ExecutorGroup, draw.Count(runs, "run"))
	if !g.WaitingSince.IsZero() {
		text += ", the oldest since " + t.Instant(g.WaitingSince)
	}
	t.Line(text)
}

func drawHandlers(t *draw.Table, handlers client.HandlerList) {
	if len(handlers.Items) == 0 {
		t.Line("no handlers; executors announce the handlers that they register")
		return
	}
	t.Row("HANDLER", "INSTANCES", "PARAMS", "DESCRIPTION")
	for _, h := range handlers.Items {
		here := "none online"
		if len(h.Instances) > 0 {
			here = strconv.Itoa(len(h.Instances))
		}
		t.Row(t.Cell(h.Handler, 40), here, t.Cell(paramsOf(h.ParamsSchema), 60), t.Cell(h.Description, draw.NoteWidth))
	}
}

// paramsOf returns a schema in a few words: the fields of an object with their types,
// or the type alone.
func paramsOf(schema json.RawMessage) string {
	var s struct {
		Type       any `json:"type"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return "?"
	}
	kind := func(t any) string {
		switch t := t.(type) {
		case string:
			return t
		case []any:
			var all []string
			for _, one := range t {
				all = append(all, fmt.Sprint(one))
			}
			return strings.Join(all, " or ")
		}
		return "any"
	}
	if len(s.Properties) == 0 {
		return kind(s.Type)
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, name+" "+kind(s.Properties[name].Type))
	}
	return strings.Join(fields, ", ")
}

// hostLoad tells the processes that want a CPU, for each that there is.
func hostLoad(l *client.HostLoad) string {
	if l == nil || l.CPUs == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*l.Load1/float64(l.CPUs))
}
