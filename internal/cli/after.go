package cli

import (
	"strings"

	"github.com/carillon-scheduler/carillon/job/workflow"
)

// StepAfter tells which ends of which steps a step follows.
func StepAfter(after []workflow.Edge, join string, finally bool) string {
	var all []string
	for _, e := range after {
		text := e.Step
		if e.On != "" && e.On != workflow.OnSuccess {
			text += " (" + string(e.On) + ")"
		}
		all = append(all, text)
	}
	text := strings.Join(all, ", ")
	if len(after) > 1 && join != "" && join != "all" {
		text = join + " of " + text
	}
	if finally {
		return strings.TrimSuffix("all others; "+text, "; ")
	}
	return text
}
