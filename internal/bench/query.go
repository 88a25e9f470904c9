package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// question is what bench query asks of a store, and within which time the answer
// should come when it has 10,000,000 runs, in milliseconds; 0 is no aim.
type question struct {
	name string
	aim  float64
	ask  func(ctx context.Context, s logstore.Store, w *asked) error
}

// asked is what questions are about: the history that was seeded.
type asked struct {
	end  time.Time // of the newest run
	busy job.Name
	rare job.Name
	run  runlog.Run // in the middle of it
	page string     // the cursor of a page far down
}

func (w *asked) since(d time.Duration) logstore.RunFilter {
	return logstore.RunFilter{From: w.end.Add(-d), To: w.end}
}

const (
	oneDay    = 24 * time.Hour
	sevenDays = 7 * oneDay
	allDays   = seedDays * oneDay
)

// questions are those of the pages and reports that people look at.
var questions = []question{
	{"newest 50, 24 h", 5, asking(func(w *asked) logstore.RunFilter { return w.since(oneDay) })},
	{"newest 50, no range", 30, asking(func(*asked) logstore.RunFilter { return logstore.RunFilter{} })},
	{"a page far down", 7, asking(func(w *asked) logstore.RunFilter { return logstore.RunFilter{Cursor: w.page} })},
	{"busy job, 7 d", 12, asking(func(w *asked) logstore.RunFilter { f := w.since(sevenDays); f.Jobs = []job.Name{w.busy}; return f })},
	{"rare job, 30 d", 55, asking(func(w *asked) logstore.RunFilter { f := w.since(allDays); f.Jobs = []job.Name{w.rare}; return f })},
	{"failed of a group, 7 d", 18, asking(func(w *asked) logstore.RunFilter {
		f := w.since(sevenDays)
		f.Group, f.Statuses = w.busy.Group(), []job.Status{job.StatusFailed}
		return f
	})},
	{"lost of a rare job, 30 d", 63, asking(func(w *asked) logstore.RunFilter {
		f := w.since(allDays)
		f.Jobs, f.Statuses = []job.Name{w.rare}, []job.Status{job.StatusLost}
		return f
	})},
	{"one run by its id", 8, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Run(ctx, w.run.RunID)
		return err
	}},
	{"a run's lines", 11, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Lines(ctx, logstore.LineFilter{RunID: w.run.RunID, Attempt: 1})
		return err
	}},
	{"failed counted, 7 d", 16, func(ctx context.Context, s logstore.Store, w *asked) error {
		f := w.since(sevenDays)
		f.Statuses = []job.Status{job.StatusFailed}
		_, err := s.Counts(ctx, f)
		return err
	}},
	{"facets, 24 h", 0, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Facets(ctx, logstore.FacetFilter{RunFilter: w.since(oneDay)})
		return err
	}},
	{"histogram of 96 parts, 24 h", 0, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Histogram(ctx, w.since(oneDay), 96)
		return err
	}},
	{"24 h by hour", 10, reporting(oneDay, byStep(runlog.StepHour, twoTimes...))},
	{"24 h by hour, all times", 0, reporting(oneDay, byStep(runlog.StepHour))},
	{"30 d by day", 22, reporting(allDays, byStep(runlog.StepDay))},
	{"30 d by day in India", 0, reporting(allDays, func(f *logstore.ReportFilter) { f.Step, f.Zone = runlog.StepDay, time.FixedZone("IST", 5*3600+1800) })},
	{"6 h by minute", 7, reporting(6*time.Hour, byStep(runlog.StepMinute, twoTimes...))},
	{"6 h by minute, all times", 0, reporting(6*time.Hour, byStep(runlog.StepMinute))},
	{"slowest 20 jobs, 7 d", 34, reporting(sevenDays, topJobs(runlog.OrderDuration, runlog.TimeDuration))},
	{"slowest 20 jobs, all times", 0, reporting(sevenDays, topJobs(runlog.OrderDuration))},
	{"failure ratio top 20, 24 h", 7, reporting(oneDay, topJobs(runlog.OrderRatio, runlog.TimeNone))},
	{"failure ratio, all times", 0, reporting(oneDay, topJobs(runlog.OrderRatio))},
	{"one job by hour, 7 d", 28, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Report(ctx, logstore.ReportFilter{From: w.end.Add(-sevenDays), To: w.end, Jobs: []job.Name{w.busy}, Step: runlog.StepHour, Limit: 200})
		return err
	}},
	{"failures grouped, 24 h", 0, func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Failures(ctx, logstore.FailureFilter{From: w.end.Add(-oneDay), To: w.end})
		return err
	}},
	{"usage of a group, 1 h", 0, askUsage(time.Hour)},
	{"usage of a group, 24 h", 0, askUsage(oneDay)},
	{"usage of a group, 7 d", 0, askUsage(sevenDays)},
	{"overview, 24 h", 0, askOverview},
	{"two words, newest 100, 1 d", 65, searching("customer invoice", oneDay)},
	{"two words, newest 100, 7 d", 129, searching("customer invoice", sevenDays)},
	{"error, newest 100, 7 d", 164, searching("error", sevenDays)},
	{"absent word, 30 d", 59, searching("zyzzyva", allDays)},
	{"absent part of a word, 30 d", 0, searching("*yzzyv*", allDays)},
	{"error by hour, 1 d", 33, countingHits("error", oneDay)},
	{"error by hour, 7 d", 189, countingHits("error", sevenDays)},
	{"error by hour, 30 d", 824, countingHits("error", allDays)},
}

func asking(filter func(*asked) logstore.RunFilter) func(context.Context, logstore.Store, *asked) error {
	return func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Runs(ctx, filter(w))
		return err
	}
}

func reporting(span time.Duration, change func(*logstore.ReportFilter)) func(context.Context, logstore.Store, *asked) error {
	return func(ctx context.Context, s logstore.Store, w *asked) error {
		f := logstore.ReportFilter{From: w.end.Add(-span), To: w.end, Limit: logstore.MaxReportRows}
		change(&f)
		_, err := s.Report(ctx, f)
		return err
	}
}

// twoTimes are those that the aims of reports over time are for.
var twoTimes = []runlog.Timing{runlog.TimeDuration, runlog.TimeStarted}

func byStep(step runlog.Step, times ...runlog.Timing) func(*logstore.ReportFilter) {
	return func(f *logstore.ReportFilter) { f.Step, f.Times = step, times }
}

func topJobs(order runlog.Order, times ...runlog.Timing) func(*logstore.ReportFilter) {
	return func(f *logstore.ReportFilter) {
		f.By, f.Order, f.Limit, f.Times = []runlog.Dimension{runlog.ByJob}, order, 20, times
	}
}

func searching(text string, span time.Duration) func(context.Context, logstore.Store, *asked) error {
	return func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Search(ctx, logstore.SearchFilter{Text: text, From: w.end.Add(-span), To: w.end})
		return err
	}
}

func countingHits(text string, span time.Duration) func(context.Context, logstore.Store, *asked) error {
	return func(ctx context.Context, s logstore.Store, w *asked) error {
		f := logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{Text: text, From: w.end.Add(-span), To: w.end}, Parts: int(span / time.Hour), Within: time.Minute}
		_, err := s.CountHits(ctx, f)
		return err
	}
}

func askUsage(span time.Duration) func(context.Context, logstore.Store, *asked) error {
	return func(ctx context.Context, s logstore.Store, w *asked) error {
		_, err := s.Usage(ctx, logstore.UsageFilter{Group: w.busy.Group(), From: w.end.Add(-span), To: w.end, Parts: 96})
		return err
	}
}

// askOverview asks what the API's overview asks.
func askOverview(ctx context.Context, s logstore.Store, w *asked) error {
	_, err := logstore.ReadOverview(ctx, s, logstore.OverviewFilter{From: w.end.Add(-oneDay), To: w.end, Top: 5}, w.end)
	return err
}

// answer is how long a question took.
type answer struct {
	Question string  `json:"question"`
	Median   float64 `json:"median_ms"`
	Slowest  float64 `json:"slowest_ms"`
	Aim      float64 `json:"aim_ms,omitempty"`
}

// answers is what bench query found.
type answers struct {
	Runs    int      `json:"runs"`
	Lines   int      `json:"lines"`
	Bytes   int64    `json:"bytes"`
	PerRun  float64  `json:"bytes_per_run,omitempty"`
	PerLine float64  `json:"bytes_per_line,omitempty"`
	Answers []answer `json:"answers"`
}

// measure asks each question n times.
func measure(ctx context.Context, s logstore.Store, n int) (*answers, error) {
	w, counted, err := about(ctx, s)
	if err != nil {
		return nil, err
	}
	found := &answers{Runs: counted}
	for _, q := range questions {
		var took []float64
		for range n {
			began := time.Now()
			if err := q.ask(ctx, s, w); err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
			took = append(took, float64(time.Since(began).Microseconds())/1000)
		}
		slices.Sort(took)
		found.Answers = append(found.Answers, answer{q.name, took[n/2], took[n-1], q.aim})
	}
	return found, nil
}

// about finds what to ask for.
func about(ctx context.Context, s logstore.Store) (*asked, int, error) {
	page, err := s.Runs(ctx, logstore.RunFilter{Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	if len(page.Runs) == 0 {
		return nil, 0, errors.New("the store has no runs; fill it with carillon bench seed")
	}
	w := &asked{end: page.Runs[0].FireTime.Add(time.Millisecond)}
	facets, err := s.Facets(ctx, logstore.FacetFilter{RunFilter: w.since(allDays), By: []runlog.Dimension{runlog.ByJob, runlog.ByStatus}, Values: logstore.MaxFacetValues})
	if err != nil {
		return nil, 0, err
	}
	runs := 0
	for _, v := range facets[runlog.ByStatus] {
		runs += v.Count
	}
	jobs := facets[runlog.ByJob]
	w.busy, w.rare = job.Name(jobs[0].Value), job.Name(jobs[len(jobs)-1].Value)
	half := logstore.RunFilter{To: w.end.Add(-allDays / 2), Limit: 1}
	if page, err = s.Runs(ctx, half); err != nil {
		return nil, 0, err
	}
	if len(page.Runs) == 0 {
		return nil, 0, errors.New("the store has less than half a month of runs; fill it with carillon bench seed")
	}
	w.run, w.page = page.Runs[0], page.Next
	return w, runs, nil
}

func (a *answers) draw(t *draw.Table) {
	t.Line(fmt.Sprintf("%d runs and %d lines, %.0f MB: %.1f bytes a run, %.1f a line", a.Runs, a.Lines, float64(a.Bytes)/1e6, a.PerRun, a.PerLine))
	t.Line("")
	t.Row("QUESTION", "MEDIAN MS", "SLOWEST", "AIM")
	for _, one := range a.Answers {
		aim := "-"
		if one.Aim > 0 {
			aim = fmt.Sprintf("%.0f", one.Aim)
		}
		t.Row(one.Question, fmt.Sprintf("%.1f", one.Median), fmt.Sprintf("%.1f", one.Slowest), aim)
	}
}

// newQueryCommand returns bench query.
func newQueryCommand() *cobra.Command {
	var where string
	var runs, lines, times int
	output := cli.AsTable
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Measure lists, searches and reports on a history of a given size",
		Long: "Run the queries of the console's pages and reports, several times each, and show how long they take.\n" +
			"Without --store, the command creates an SQLite file and removes it afterwards. The targets are for\n" +
			"ClickHouse with 10,000,000 runs and 100,000,000 lines on two cores.",
		Example: "  carillon bench query --runs 1000000 --lines 0\n" +
			"  carillon bench query --store clickhouse://carillon@localhost:9000/bench",
		Args: cli.NoArgs,
	}
	cmd.Flags().StringVar(&where, "store", "", "query this store, filled by \"carillon bench seed\": an SQLite `file` or a clickhouse:// address")
	cmd.Flags().IntVar(&runs, "runs", 1_000_000, "number of runs to create")
	cmd.Flags().IntVar(&lines, "lines", 0, "number of log lines to create")
	cmd.Flags().IntVar(&times, "times", 7, "how many times to run each query")
	cmd.Flags().VarP(&output, "output", "o", "table, json or yaml")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if runs < 1 || lines < 0 || times < 1 {
			return cli.Usage(errors.New("--runs and --times must be 1 or more, and --lines not negative"))
		}
		found, err := query(cmd.Context(), where, runs, lines, times)
		if err != nil {
			return fmt.Errorf("bench query: %w", err)
		}
		if output == cli.AsJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
		}
		return output.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), found, found.draw)
	}
	return cmd
}

func query(ctx context.Context, where string, runs, lines, times int) (*answers, error) {
	if where != "" {
		s, err := openSeeded(ctx, where)
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }()
		return measureSized(ctx, s, -1, times)
	}
	dir, err := os.MkdirTemp("", "carillon-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	where = filepath.Join(dir, "history.db")
	s, err := openSeeded(ctx, where)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	if err := newSeeding(seedJobs, runs, lines, time.Now()).fill(ctx, where, s, func(int, int) {}); err != nil {
		return nil, err
	}
	return measureSized(ctx, s, lines, times)
}

// measureSized measures, and tells how much room runs and lines take.
func measureSized(ctx context.Context, s logstore.Store, lines, times int) (*answers, error) {
	found, err := measure(ctx, s, times)
	if err != nil {
		return nil, err
	}
	stats, err := s.Stats(ctx)
	if err != nil {
		return nil, err
	}
	found.Lines, found.Bytes = max(lines, 0), stats.Bytes
	ch, ok := s.(*clickhouse.Store)
	if !ok {
		if lines == 0 { // of both together it cannot be told
			found.PerRun = float64(stats.Bytes) / float64(found.Runs)
		}
		return found, nil
	}
	sizes, err := ch.Sizes(ctx)
	if err != nil {
		return nil, err
	}
	found.Lines = int(sizes["run_logs"].Rows) //nolint:gosec // counts rows
	found.PerRun = float64(sizes["runs"].Bytes) / float64(max(found.Runs, 1))
	found.PerLine = float64(sizes["run_logs"].Bytes) / float64(max(found.Lines, 1))
	return found, nil
}
