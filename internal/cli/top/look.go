package top

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

const (
	// lookTimeout bounds one look: what has not answered by then is shown as missing.
	lookTimeout = 5 * time.Second
	// recently is the range that lateness is of.
	recently = 5 * time.Minute
	// lookFailures is how many of the newest failures are asked for.
	lookFailures = 20
)

// topView is how a system is at an instant. What could not be asked is zero, and
// Missing says why.
type topView struct {
	Server string    `json:"server"`
	At     time.Time `json:"at"`

	Jobs int `json:"jobs"`
	// FiresPerSecond is of the last whole minute that the history has.
	FiresPerSecond float64            `json:"fires_per_second"`
	Alive          map[job.Status]int `json:"alive"` // pending, queued and running runs

	Nodes   []topNode `json:"nodes"`
	Unowned []int     `json:"unowned_shards"`

	Groups []topGroup `json:"groups"`

	// Lateness is how long after their fire times the runs of the last five minutes were
	// committed and begun.
	Lateness struct {
		Committed runlog.Spread `json:"committed"`
		Started   runlog.Spread `json:"started"`
	} `json:"lateness"`

	History topHistory `json:"history"`

	Failures []client.Run `json:"failures"` // newest first

	Missing []string        `json:"missing,omitempty"`
	unknown map[string]bool // the parts that are missing
	clock   draw.Clock
	denied  error // if any part was
}

// topNode is a scheduler node.
type topNode struct {
	Node   string `json:"node"`
	Shards []int  `json:"shards"`
}

// topGroup is an executor group. Slots and Busy are of its instances that are there.
type topGroup struct {
	Group     string `json:"executor_group"`
	State     string `json:"state"`
	Instances int    `json:"instances"`
	Slots     int    `json:"slots"`
	Busy      int    `json:"busy"`
	Pending   int    `json:"pending"`
}

// topHistory is how far the log store has come.
type topHistory struct {
	Answers bool                  `json:"store_answers"`
	Bytes   int64                 `json:"bytes"`
	Backlog []fleet.IngestBacklog `json:"backlog"`
}

// The parts of a look whose absence is shown in its head.
const (
	partJobs     = "jobs"
	partFires    = "fires per second"
	partHistory  = "the history"
	partFailures = "failures"
)

func partRuns(s job.Status) string { return string(s) + " runs" }

// lookPart is one question of a look. Its answer has fields of the view to itself.
type lookPart struct {
	what string
	ask  func() error
}

// lookAt asks for everything at once. It always returns a view, of what answered.
func lookAt(ctx context.Context, api *client.API, clock draw.Clock) topView {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	v := topView{Server: api.Address(), At: now, Alive: map[job.Status]int{}, clock: clock, unknown: map[string]bool{}}
	alive := aliveRuns{job.StatusPending: {}, job.StatusQueued: {}, job.StatusRunning: {}}
	parts := slices.Concat(v.clusterParts(ctx, api), v.runParts(ctx, api), alive.parts(ctx, api))
	errs := make([]error, len(parts))
	var g errgroup.Group
	for i, p := range parts {
		g.Go(func() error {
			errs[i] = p.ask()
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	for i, err := range errs {
		if err != nil {
			v.Missing = append(v.Missing, parts[i].what+": "+err.Error())
			v.unknown[parts[i].what] = true
		}
		if errors.Is(err, client.ErrDenied) {
			v.denied = err
		}
	}
	for i := range v.Groups {
		v.Groups[i].Pending = alive[job.StatusPending][v.Groups[i].Group]
	}
	for status, groups := range alive {
		for _, n := range groups {
			v.Alive[status] += n
		}
	}
	return v
}

// clusterParts ask for the jobs, and for what runs them.
func (v *topView) clusterParts(ctx context.Context, api *client.API) []lookPart {
	return []lookPart{
		{partJobs, func() error {
			page, err := client.Read[client.JobPage](api.ListJobs(ctx, &client.ListJobsParams{Limit: new(1), Fires: new(0), Runs: new(0)}))
			v.Jobs = page.Total
			return err
		}},
		{"nodes", func() error {
			list, err := client.Read[client.NodeList](api.ListNodes(ctx))
			for _, n := range list.Items {
				v.Nodes = append(v.Nodes, topNode{n.Node, n.Shards})
			}
			v.Unowned = list.Unowned
			return err
		}},
		{"groups", func() error {
			list, err := client.Read[client.GroupList](api.ListGroups(ctx))
			for _, g := range list.Items {
				v.Groups = append(v.Groups, groupSeen(g))
			}
			return err
		}},
	}
}

// runParts ask for what has run of late.
func (v *topView) runParts(ctx context.Context, api *client.API) []lookPart {
	now := v.At
	return []lookPart{
		{"lateness", func() error {
			report, err := client.Read[client.Report](api.ReportRuns(ctx, &client.ReportRunsParams{From: new(now.Add(-recently)), To: new(now)}))
			if err == nil && len(report.Items) > 0 {
				v.Lateness.Committed, v.Lateness.Started = report.Items[0].Committed, report.Items[0].Started
			}
			return err
		}},
		{partFires, func() error {
			minute := now.Truncate(time.Minute)
			counts, err := client.Read[client.RunCounts](api.CountRuns(ctx, &client.CountRunsParams{From: minute.Add(-time.Minute), To: minute}))
			for _, part := range counts.Items {
				for _, n := range part {
					v.FiresPerSecond += float64(n) / time.Minute.Seconds()
				}
			}
			return err
		}},
		{partHistory, func() error {
			h, err := client.Read[client.HistoryState](api.GetHistory(ctx))
			v.History = topHistory{h.StoreAnswers, h.Bytes, h.Backlog}
			return err
		}},
		{partFailures, func() error {
			page, err := client.Read[client.RunPage](api.ListRuns(ctx, &client.ListRunsParams{
				Status: &[]client.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost}, Limit: new(lookFailures),
			}))
			v.Failures = page.Items
			return err
		}},
	}
}

// aliveRuns counts the runs that have not ended, by status and group.
type aliveRuns map[job.Status]map[string]int

func (a aliveRuns) parts(ctx context.Context, api *client.API) []lookPart {
	var parts []lookPart
	for status, groups := range a {
		parts = append(parts, lookPart{partRuns(status), func() error {
			facets, err := client.Read[client.RunFacets](api.FacetRuns(ctx, &client.FacetRunsParams{
				By: &[]client.Dimension{"group"}, Status: &[]client.Status{status}, Values: new(1000),
			}))
			for _, f := range facets.Items["group"] {
				groups[f.Value] = f.Count
			}
			return err
		}})
	}
	return parts
}

// groupSeen adds up the instances of a group.
func groupSeen(g client.Group) topGroup {
	seen := topGroup{Group: g.ExecutorGroup, State: string(g.State)}
	for _, i := range g.Instances {
		if i.State == fleet.InstanceLost {
			continue
		}
		seen.Instances++
		seen.Slots += i.Slots
		seen.Busy += i.Running
	}
	return seen
}
