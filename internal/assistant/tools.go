package assistant

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// The bounds of calls.
const (
	callsPerMinute = 120
	callTime       = 10 * time.Second
)

// tools are what an assistant can call. They are safe for concurrent use.
type tools struct {
	api    *client.API
	access rights.List
	calls  *rate.Limiter
	writes *Writes // nil: nothing can be changed
}

// addTo registers the tools that the caller can use. Their descriptions are constants, so that nobody but
// Carillon instructs an assistant.
func (t *tools) addTo(s *mcp.Server) {
	if !t.access.MaySomewhere(rights.Viewer) {
		return
	}
	add(t, s, "find_jobs", "Find jobs by text, group or state: name, title, schedule, next fires, last run.", t.findJobs)
	add(t, s, "why_not_run", "Explain why a job ran, or did not run, in the minute at a time, and what helps.", t.whyNotRun)
	add(t, s, "explain_run", "Explain one run: attempts, status, reason, timing, steps of a workflow, the last lines of its log.", t.explainRun)
	add(t, s, "compare_runs", "Compare a run with the last run of its job that succeeded before: fields that differ, and the first log line that does.", t.compareRuns)
	if groups, everywhere := t.access.Seen(rights.Logs); everywhere || len(groups) > 0 {
		add(t, s, "search_logs", "Find lines in the logs of runs.", t.searchLogs)
	}
	add(t, s, "forecast", "List the fires ahead of a job, a group, or all jobs, with those that will be skipped and why, and the runs requested for later times.", t.forecast)
	add(t, s, "preview", "List the next fires of a cron expression, or check the document of a job and show what would change. Nothing is saved.", t.preview)
	add(t, s, "ledger", "Account for the fires of a job, a group, or all jobs in a range: counts by outcome, fires without a run, discrepancies.", t.ledger)
	add(t, s, "list_incidents", "List incidents of alerts, the gravest first.", t.listIncidents)
	add(t, s, "list_waiting", "List steps of workflows that wait for a person's approval.", t.listWaiting)
	t.addChangesTo(s)
}

// errTooMany says that the caller calls tools too often.
var errTooMany = errors.New("too many calls: 120 a minute are answered; wait a little")

// add registers a tool that changes nothing.
func add[In any](t *tools, s *mcp.Server, name, description string, ask func(context.Context, In) (any, error)) {
	tool := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		if !t.calls.Allow() {
			return nil, nil, errTooMany
		}
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		found, err := ask(ctx, in)
		if err != nil {
			return nil, nil, errors.New(new(cutter).text(err.Error()))
		}
		result, err := answer(found)
		return result, nil, err
	})
}
