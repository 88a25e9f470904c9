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
	row := []string{"GROUP", "STATE", "INSTANCE", "BUSY", "TASKS", "LABELS", "VERSION", "HOST", "LOAD", "LAST SEEN"}
	if t.Wide {
		row = append(row, "STARTED", "SDK", "CPUS", "MEMORY")
	}
	t.Row(row...)
	for _, g := range groups.Items {
		if len(g.Instances) == 0 {
			t.Row(append([]string{g.ExecutorGroup, string(g.State)}, slices.Repeat([]string{"-"}, len(row)-2)...)...)
		}
		for _, i := range g.Instances {
			kinds := i.Kinds
			switch {
			case slices.Contains(i.Handlers, fleet.AnyHandler):
				kinds = append(slices.Clip(kinds), "any handler")
			case len(i.Handlers) > 0:
				kinds = append(slices.Clip(kinds), draw.Count(len(i.Handlers), "handler"))
			}
			row := []string{
				g.ExecutorGroup, string(i.State), t.Cell(i.Instance, 40), fmt.Sprintf("%d/%d", i.Running, i.Slots),
				t.Cell(strings.Join(kinds, ", "), 40), t.Cell(cmp.Or(i.Labels.String(), "-"), 40), t.Cell(i.Version, 20), t.Cell(i.Host, 30), hostLoad(i.Load), t.Instant(i.At),
			}
			if t.Wide {
				cpus, memory := hostSize(i.Load)
				row = append(row, t.Instant(i.StartedAt), t.Cell(i.SDK, 40), cpus, memory)
			}
			t.Row(row...)
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
	row := []string{"HANDLER", "INSTANCES", "PARAMS", "DESCRIPTION"}
	if t.Wide {
		row = append(row, "ONLINE AT")
	}
	t.Row(row...)
	for _, h := range handlers.Items {
		here := "none online"
		if len(h.Instances) > 0 {
			here = strconv.Itoa(len(h.Instances))
		}
		row := []string{t.Cell(h.Handler, 40), here, t.Cell(paramsOf(h.ParamsSchema), 60), t.Cell(h.Description, draw.NoteWidth)}
		if t.Wide {
			row = append(row, t.Cell(strings.Join(h.Instances, ", "), 200))
		}
		t.Row(row...)
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

// hostSize tells how many CPUs a host has, and how much of its memory is used.
func hostSize(l *client.HostLoad) (cpus, memory string) {
	if l == nil || l.CPUs == 0 {
		return "-", "-"
	}
	if memory = "-"; l.MemoryBytes > 0 {
		memory = fmt.Sprintf("%.0f%% of %s", 100*float64(l.MemoryUsed)/float64(l.MemoryBytes), draw.Bytes(int64(l.MemoryBytes))) //nolint:gosec // no host has 8 EiB
	}
	return strconv.Itoa(l.CPUs), memory
}
