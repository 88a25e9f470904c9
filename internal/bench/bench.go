package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
)

// benchOptions are the flags that benches share; each reads those that apply to it.
type benchOptions struct {
	jobs   int
	rate   int
	runFor time.Duration

	// Of bench run, isolation and backlog: where runs go, and among how many instances.
	route     string
	instances int

	again int // how often a bench has started over because the machine is slow
	nodes int // of bench scale: how many schedulers; 0 is one

	// Of bench fire, herd and run: how many copies each stream has, each on a server of its own.
	replicas   int
	partitions int

	slots    int    // of bench run: how many runs each executor does at once; 0 is as slotsOf says
	nats     string // of bench run: a configuration file of NATS; empty is the built-in one
	executor string // of bench run: the command of a foreign executor; empty is the one in this process

	// Of bench api: how many runs the history has, and how many streams are opened. Of bench
	// outage: how many have ended.
	runs, streams int

	// Of the benches of workflows: how many steps each has, how they follow each other, what they are measured
	// beside and how often, what the jobs are, which handler does their runs, and how large a definition is.
	steps        int
	shape, rival string
	turns        int
	change       func(*job.Job)
	handler      executor.HandlerFunc // nil does nothing
	kilobytes    int
	bare         bool // measureRuns is not to measure the bus alone

	store string // of bench ingest and outage: a ClickHouse in which they make databases

	output  string
	profile string // file for a CPU profile of what is measured
	cold    bool   // takeover: by a node that has just been started
}

// benchResult is what a bench prints, as one JSON object. Fields that do not apply
// are left out.
type benchResult struct {
	Name      string  `json:"name"`
	Jobs      int     `json:"jobs,omitempty"`
	Count     int     `json:"count,omitempty"`        // of what rate counts
	Rate      float64 `json:"rate,omitempty"`         // per second
	RawRate   float64 `json:"raw_rate,omitempty"`     // of the bus alone, or of ClickHouse's driver, in the same run
	RawMicros float64 `json:"raw_cpu_us,omitempty"`   // CPU for each of those
	Ratio     float64 `json:"ratio,omitempty"`        // rate / raw_rate
	P50       float64 `json:"p50_ms,omitempty"`       // lateness: fire time to commit; of run and bridge, to the start of the handler
	P99       float64 `json:"p99_ms,omitempty"`       //
	Max       float64 `json:"max_ms,omitempty"`       //
	FirstP50  float64 `json:"first_p50_ms,omitempty"` // of run: of the fires of the first second
	FirstP99  float64 `json:"first_p99_ms,omitempty"` //
	Seconds   float64 `json:"seconds,omitempty"`      //
	Lost      int     `json:"lost"`                   // fires without a trigger
	Doubled   int     `json:"doubled"`                // triggers beyond the first of a run
	Disorder  int     `json:"disorder,omitempty"`     // runs that began before, or beside, an earlier one of their job
	BeforeP50 float64 `json:"before_p50_ms,omitempty"`
	BeforeP99 float64 `json:"before_p99_ms,omitempty"` // lateness before what is measured began

	RawBeforeP50 float64 `json:"raw_before_p50_ms,omitempty"`
	RawBeforeP99 float64 `json:"raw_before_p99_ms,omitempty"` // lateness in those times where it never begins

	RawP50    float64 `json:"raw_p50_ms,omitempty"`  // lateness of the bus alone, or in the same time without what is measured
	RawP99    float64 `json:"raw_p99_ms,omitempty"`  //
	RawMax    float64 `json:"raw_max_ms,omitempty"`  //
	RSS       float64 `json:"rss_mb,omitempty"`      // of this process: node, bus and bench together
	HeapMB    float64 `json:"heap_mb,omitempty"`     // live heap of the node alone, where it can be told
	CPUMicros float64 `json:"cpu_us_each,omitempty"` // of this process, for each counted thing

	// Of bench run --executor: CPU of the foreign executor for each run, and what the executor
	// that is built in reaches, with all its CPU.
	ExecutorMicros float64 `json:"executor_cpu_us_each,omitempty"`
	BuiltInRate    float64 `json:"built_in_rate,omitempty"`
	BuiltInMicros  float64 `json:"built_in_cpu_us,omitempty"`

	IdleCPU   float64 `json:"idle_cpu_percent,omitempty"` // of one processor: the cluster with nothing to do
	CPUShare  float64 `json:"cpu_percent,omitempty"`
	Events    float64 `json:"events_rate,omitempty"` // stored per second
	Shards    int     `json:"shards,omitempty"`
	Runs      float64 `json:"runs_rate,omitempty"`     // ends of runs stored per second, where rate counts lines
	RawRuns   float64 `json:"runs_raw_rate,omitempty"` // of the driver alone
	RunsRatio float64 `json:"runs_ratio,omitempty"`    //

	// Of bench ingest: CPU in microseconds of ClickHouse for each line and each run, and
	// of this process for each run; raw is for the driver alone. The ratios are of both
	// processes' CPU: raw / own.
	StoreMicros        float64 `json:"store_cpu_us_each,omitempty"`
	RawStoreMicros     float64 `json:"raw_store_cpu_us,omitempty"`
	CPURatio           float64 `json:"cpu_ratio,omitempty"`
	RunsMicros         float64 `json:"runs_cpu_us_each,omitempty"`
	RunsStoreMicros    float64 `json:"runs_store_cpu_us_each,omitempty"`
	RawRunsMicros      float64 `json:"runs_raw_cpu_us,omitempty"`
	RawRunsStoreMicros float64 `json:"runs_raw_store_cpu_us,omitempty"`
	RunsCPURatio       float64 `json:"runs_cpu_ratio,omitempty"`

	// Of benches that measure something else in turns: its seconds and heap, and how many times as much of
	// a figure this takes.
	RawSeconds float64            `json:"raw_seconds,omitempty"`
	RawHeapMB  float64            `json:"raw_heap_mb,omitempty"`
	Times      map[string]float64 `json:"times,omitempty"`

	HistoryRuns int            `json:"history_runs,omitempty"` // of bench api
	Requests    []requestTimes `json:"requests,omitempty"`     // by kind
	Streams     int            `json:"streams,omitempty"`      // that were open
	StreamsMB   float64        `json:"streams_mb,omitempty"`   // of heap and stacks that they took, with the clients' ends
}

type bench struct {
	name, about string
	rated       bool // it has --rate
	defaults    benchOptions
	run         func(context.Context, benchOptions) (*benchResult, error)
}

// benches are those of the program, with which users measure their machines.
var benches = []bench{
	{"fire", "measure how many triggers are committed per second, and how late they are", true, benchOptions{jobs: 100_000, runFor: 20 * time.Second, replicas: 1}, benchFire},
	{"run", "measure complete runs per second: trigger, handler, callback, stored", true, benchOptions{jobs: 200_000, instances: 1, runFor: 20 * time.Second, replicas: 1}, benchRun},
	{"ingest", "measure how many log lines and ends of runs ClickHouse stores per second, with ten lines per run", false, benchOptions{jobs: 100_000}, benchIngest},
}

// more are those with which the project measures itself.
var more = []bench{
	{"herd", "measure jobs that are all due in the same second", false, benchOptions{jobs: 100_000, replicas: 1}, benchHerd},
	{"takeover", "measure how long the jobs of a killed node do not fire", false, benchOptions{jobs: 1_000_000}, benchTakeover},
	{"bridge", "measure complete runs per second on XXL-JOB executors that answer at once: trigger, call, callback, log, stored", true, benchOptions{jobs: 20_000, instances: 4, runFor: 20 * time.Second}, benchBridge},
	{"overlap", "measure runs per second of jobs that queue under constant load, and check their order", true, benchOptions{jobs: 10_000, runFor: 20 * time.Second}, benchOverlap},
	{"workflow", "measure steps of workflows per second, beside as many runs of jobs without a graph", false, benchOptions{jobs: 1000, steps: 10, turns: 2}, benchWorkflow},
	{"running", "measure the memory of running workflows and their takeover, beside as many runs without a graph", false, benchOptions{jobs: 10_000, steps: 10, turns: 1}, benchRunning},
	{"fanout", "measure how long a workflow takes to begin all its steps, and how late other jobs are", true, benchOptions{jobs: 20_000, rate: 1000, steps: 1000, turns: 1, runFor: 20 * time.Second}, benchFanout},
	{"definition", "measure the CPU of the fires of workflows with large definitions, beside small ones", false, benchOptions{jobs: 20, turns: 2, runFor: 20 * time.Second, kilobytes: 250}, benchDefinition},
	{"isolation", "measure how late the runs of a group start, before and after the executors of another group hang", false, benchOptions{jobs: 400, runFor: 20 * time.Second, instances: 2}, benchIsolation},
	{"backlog", "measure the cost of triggers that wait for a group whose executors all hang", false, benchOptions{jobs: 20_000, runFor: 20 * time.Second, instances: 2}, benchBacklog},
	{"api", "measure the API: lists and gets over many jobs and runs, and the memory of open streams", true, benchOptions{jobs: 100_000, rate: 500, runFor: 20 * time.Second, runs: 1_000_000, streams: 1000}, benchAPI},
	{"outage", "measure how late jobs fire while ClickHouse is down, and while it catches up afterwards", true, benchOptions{jobs: 20_000, rate: 1000, runFor: 20 * time.Second, runs: 500_000}, benchOutage},
}

// newBenchCommand returns a command that has a command for each bench, and others.
func newBenchCommand(use, example string, of []bench, others ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: "Measure this machine against the raw limits of NATS",
		Long: "Measure this machine. Each benchmark starts the servers that it needs in a temporary directory, and\n" +
			"removes them afterwards. Benchmarks of ClickHouse create a database on the server of --store, and\n" +
			"drop it. Each also measures the raw limit of NATS or ClickHouse: compare the ratios, not the\n" +
			"machines.",
		Example: example,
	}
	for _, b := range of {
		opts := b.defaults
		sub := &cobra.Command{
			Use:   b.name,
			Short: strings.ToUpper(b.about[:1]) + b.about[1:],
			Args:  cli.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				r, err := patient(cmd, opts, b.run)
				if err != nil {
					return fmt.Errorf("bench %s: %w", b.name, err)
				}
				r.Name = b.name
				r.RSS = cmp.Or(r.RSS, rssMB())
				if raw := max(r.RawRate, r.BuiltInRate); raw > 0 {
					r.Ratio = r.Rate / raw
				}
				return r.print(cmd, opts.output)
			},
		}
		sub.Flags().IntVar(&opts.jobs, "jobs", opts.jobs, "number of jobs")
		if b.rated {
			sub.Flags().IntVar(&opts.rate, "rate", opts.rate, "fires per second; 0 is as many as possible")
		}
		if opts.runFor > 0 {
			sub.Flags().DurationVar(&opts.runFor, "for", opts.runFor, "how long to measure")
		}
		if opts.instances > 0 {
			sub.Flags().StringVar(&opts.route, "route", "any", "the jobs' `route`")
			sub.Flags().IntVar(&opts.instances, "instances", opts.instances, "number of executors")
			cli.Complete(sub, "route", cli.Words[string](job.Routes)...)
		}
		if opts.replicas > 0 {
			sub.Flags().IntVar(&opts.partitions, "partitions", 1, "how many streams share the triggers, and how many share the events")
			sub.Flags().IntVar(&opts.replicas, "replicas", opts.replicas, "copies of each stream, each on its own NATS server in this process: 1, 3 or 5")
		}
		if b.name == "run" || b.name == "bridge" {
			sub.Flags().Lookup("rate").Usage = "fires per second; with 0, each job fires once, all at the same time"
			sub.Flags().Lookup("for").Usage = "how long jobs fire at that rate"
		}
		if b.name == "run" {
			sub.Flags().IntVar(&opts.slots, "slots", 0, fmt.Sprintf("how many runs each executor does at once; 0 shares %d among them, with at least %d for each", benchSlots, benchLeast))
			sub.Flags().StringVar(&opts.nats, "nats-config", "", "start NATS with this configuration `file` instead of the built-in one; it must not join other servers")
			sub.Flags().StringVar(&opts.executor, "executor", "", "also measure the executor that this `command` starts; it needs a handler noop")
		}
		if opts.turns > 0 {
			sub.Flags().IntVar(&opts.turns, "turns", opts.turns, "how often each side is measured")
		}
		if opts.steps > 0 {
			sub.Flags().IntVar(&opts.steps, "steps", opts.steps, "number of steps of each workflow")
		}
		if opts.kilobytes > 0 {
			sub.Flags().IntVar(&opts.kilobytes, "size", opts.kilobytes, "size of a definition, in KiB")
		}
		if b.name == "workflow" {
			sub.Flags().StringVar(&opts.shape, "shape", shapeChain, "how steps follow each other: chain, fan, layers (of ten) or wide")
			cli.Complete(sub, "shape", shapes...)
			sub.Flags().StringVar(&opts.rival, "beside", besideWatched, "what is measured in turns: watched runs, or children with --shape chain")
			cli.Complete(sub, "beside", rivals...)
		}
		if b.name == "outage" || b.name == "ingest" {
			sub.Flags().StringVar(&opts.store, "store", "", "the ClickHouse server on which to create and drop a database: `clickhouse://USER:PASSWORD@HOST`")
			_ = sub.MarkFlagRequired("store")
		}
		if b.name == "outage" {
			sub.Flags().Lookup("for").Usage = "how long ClickHouse stays down after these runs have ended"
			sub.Flags().IntVar(&opts.runs, "runs", opts.runs, "number of runs that end while ClickHouse is down, with ten log lines each")
		}
		if b.name == "api" {
			sub.Flags().Lookup("rate").Usage = "requests per second"
			sub.Flags().IntVar(&opts.runs, "runs", opts.runs, "number of runs in the history")
			sub.Flags().IntVar(&opts.streams, "streams", opts.streams, "number of live tails to open")
		}
		sub.Flags().StringVarP(&opts.output, "output", "o", "table", "table or json")
		if b.name == "takeover" {
			sub.Flags().BoolVar(&opts.cold, "cold", false, "start the second node only when the first has died")
		}
		sub.Flags().StringVar(&opts.profile, "cpuprofile", "", "write a CPU profile of the measurement to this `file`")
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(others...)
	return cmd
}

func (r *benchResult) print(cmd *cobra.Command, format string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if format == "json" {
		cmd.Println(string(data))
		return nil
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for _, key := range []string{"name", "jobs", "shards", "count", "rate", "raw_rate", "raw_cpu_us", "built_in_rate", "built_in_cpu_us", "ratio", "raw_before_p50_ms", "raw_before_p99_ms", "raw_p50_ms", "raw_p99_ms", "raw_max_ms", "before_p50_ms", "before_p99_ms", "p50_ms", "p99_ms", "max_ms", "seconds", "raw_seconds", "lost", "doubled", "disorder", "rss_mb", "heap_mb", "raw_heap_mb", "cpu_us_each", "executor_cpu_us_each", "idle_cpu_percent", "cpu_percent", "events_rate", "store_cpu_us_each", "raw_store_cpu_us", "runs_rate", "runs_raw_rate", "runs_ratio", "runs_cpu_us_each", "runs_store_cpu_us_each", "runs_raw_store_cpu_us", "history_runs", "streams", "streams_mb"} {
		if v, ok := fields[key]; ok {
			if f, isFloat := v.(float64); isFloat {
				v = fmt.Sprintf("%.6g", f)
			}
			cmd.Printf("%-21s %v\n", key, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Times)) {
		cmd.Printf("%-21s %.3g\n", "times "+name, r.Times[name])
	}
	for _, q := range r.Requests {
		cmd.Printf("%-21s p50 %.1f, p99 %.1f, max %.1f ms; once sent p50 %.1f, p99 %.1f, max %.1f ms\n", q.Request, q.P50, q.P99, q.Max, q.ServedP50, q.ServedP99, q.ServedMax)
	}
	return nil
}

// rssMB returns the process's resident memory, or 0 where that cannot be told.
func rssMB() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0
	}
	return float64(resident*int64(os.Getpagesize())) / 1e6
}
