package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// scale is how large everything is in one measurement of bench scale.
type scale struct {
	jobs, rate, groups, instances, nodes, history, shards, replicas int
}

// standing is what does not grow.
var standing = scale{jobs: 20_000, rate: 1000, groups: 1, instances: 1, nodes: 1, shards: 64, replicas: 1}

// growing are the things that grow, one after the other, while all else stands still.
var growing = []struct {
	name   string
	values []int
	set    func(s *scale, n int)
}{
	{"jobs", []int{1000, 10_000, 100_000, 1_000_000}, func(s *scale, n int) { s.jobs = n }},
	{"rate", []int{500, 1000, 2000, 4000}, func(s *scale, n int) { s.rate = n }},
	{"groups", []int{1, 10, 100, 1000}, func(s *scale, n int) { s.groups = n }},
	{"instances", []int{1, 10, 100, 1000}, func(s *scale, n int) { s.instances = n }},
	{"nodes", []int{1, 2, 4, 8}, func(s *scale, n int) { s.nodes = n }},
	{"history", []int{0, 100_000, 1_000_000, 10_000_000}, func(s *scale, n int) { s.history = n }},
	{"shards", []int{16, 64, 256, 1024}, func(s *scale, n int) { s.shards = n }},
	{"replicas", []int{1, 3}, func(s *scale, n int) { s.replicas = n }},
}

// scaleRow is one measurement.
type scaleRow struct {
	Grows     string  `json:"grows"`
	To        int     `json:"to"`
	CPUMicros float64 `json:"cpu_us_each"`
	CPURatio  float64 `json:"cpu_ratio"` // to the first row of what grows
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	RSS       float64 `json:"rss_mb"`
	Lost      int     `json:"lost"`
	Doubled   int     `json:"doubled"`
}

func newScaleCommand() *cobra.Command {
	var only []string
	var most int
	var output string
	runFor := 10 * time.Second
	names := make([]string, len(growing))
	for i := range growing {
		names[i] = growing[i].name
	}
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure the cost of a run as one dimension grows and the others stay the same",
		Long: fmt.Sprintf("Measure the CPU time and the lateness of a run while one dimension grows and the others stay the\n"+
			"same: jobs, fires per second, groups, instances of a group, scheduler nodes, runs in the history,\n"+
			"shards, or replicas of the streams, each on its own NATS server. The base is %d jobs of %d group with\n"+
			"%d instance, %d fires per second, %d node, %d shards, %d replica, and an empty history. Everything\n"+
			"runs in this process, with SQLite. cpu_ratio compares a row with the first row of its dimension.\n"+
			"Lateness is the time from the fire time to the start of the handler; all fires of a second are due\n"+
			"at once.",
			standing.jobs, standing.groups, standing.instances, standing.rate, standing.nodes, standing.shards, standing.replicas),
		Example: "  benchtool scale --only groups,instances --most 100",
		Args:    cli.NoArgs,
	}
	cmd.Flags().StringSliceVar(&only, "only", names, "dimensions to measure")
	cmd.Flags().IntVar(&most, "most", 1_000_000, "skip measurements above this value of the dimension")
	cmd.Flags().DurationVar(&runFor, "for", runFor, "how long jobs fire in each measurement")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range only {
			if !slices.Contains(names, name) {
				return cli.Usage(fmt.Errorf("--only: %q must be one of %s", name, strings.Join(names, ", ")))
			}
		}
		if output != "json" {
			cmd.Printf("%-10s %9s %12s %9s %8s %8s %7s %5s %7s\n", "grows", "to", "cpu_us_each", "cpu_ratio", "p50_ms", "p99_ms", "rss_mb", "lost", "doubled")
		}
		for _, g := range growing {
			if !slices.Contains(only, g.name) {
				continue
			}
			first := 0.0
			for _, n := range g.values {
				if n > most {
					continue
				}
				debug.FreeOSMemory() // of the measurement before
				s := standing
				g.set(&s, n)
				r, err := patient(cmd, benchOptions{jobs: s.jobs, rate: s.rate, runFor: runFor, nodes: s.nodes}, s.measure)
				if err != nil {
					return fmt.Errorf("%d %s: %w", n, g.name, err)
				}
				if first == 0 {
					first = r.CPUMicros
				}
				row := scaleRow{Grows: g.name, To: n, CPUMicros: r.CPUMicros, CPURatio: r.CPUMicros / first, P50: r.P50, P99: r.P99, RSS: r.RSS, Lost: r.Lost, Doubled: r.Doubled}
				if err := row.print(cmd, output); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cmd
}

func (r scaleRow) print(cmd *cobra.Command, output string) error {
	if output == "json" {
		data, err := json.Marshal(r)
		cmd.Println(string(data))
		return err
	}
	cmd.Printf("%-10s %9d %12.1f %9.2f %8.0f %8.0f %7.0f %5d %7d\n", r.Grows, r.To, r.CPUMicros, r.CPURatio, r.P50, r.P99, r.RSS, r.Lost, r.Doubled)
	return nil
}

// measure has jobs fire for a while, and returns what their runs take.
func (s scale) measure(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := startWorld(ctx, s.replicas, "", cluster.Assets{Shards: s.shards, Replicas: s.replicas})
	if err != nil {
		return nil, err
	}
	defer w.close()
	history, err := sqlite.Open(ctx, filepath.Join(w.dir, "history.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = history.Close() }()
	store := &writtenStore{Store: history}
	if err := s.fill(ctx, history); err != nil {
		return nil, err
	}
	parts, stop := context.WithCancel(ctx)
	defer stop()
	ended := make([]<-chan error, s.groups, s.groups+1)
	for g := range ended {
		if err := w.conn.Groups().Ensure(ctx, scaleGroup(g)); err != nil {
			return nil, err
		}
		ended[g], err = w.startExecutors(parts, scaleGroup(g), s.instances, slotsOf(s.instances*s.groups), func(context.Context, *executor.Run) (any, error) { return nil, nil })
		if err != nil {
			return nil, err
		}
	}
	next := 0
	w.change = func(j *job.Job) {
		j.Job = job.Name(scaleGroup(next%s.groups) + "/" + j.Job.Short())
		next++
	}
	ingested, err := w.startIngest(parts, store)
	if err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: s.jobs}
	if err := w.timeRuns(ctx, o, store, nil, r); err != nil {
		return nil, err
	}
	stop()
	for _, group := range append(ended, ingested) {
		err = errors.Join(err, drain(group))
	}
	return r, err
}

// fill gives a store its history, and has it count that for reports: it would do so while runs are
// measured, which took three to five times the CPU then.
func (s scale) fill(ctx context.Context, store *sqlite.Store) error {
	if s.history == 0 {
		return nil
	}
	now := time.Now()
	if err := newSeeding(seedJobs, s.history, 0, now).write(ctx, store, 0, func(int, int) {}); err != nil {
		return err
	}
	_, err := store.Report(ctx, logstore.ReportFilter{From: now.Add(-time.Hour), To: now, Limit: 1})
	return err
}

func scaleGroup(n int) string { return "bench-" + strconv.Itoa(n) }
