package manifest

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/crontab"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

func newImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Import jobs from cron, Kubernetes, XXL-JOB or PowerJob, or a calendar from iCalendar",
		Example: "  carillon import crontab /etc/crontab --dry-run\n" +
			"  carillon import xxl-job dump.sql --zone Asia/Shanghai --dry-run\n" +
			"  carillon import powerjob etl.json --group etl --dry-run\n" +
			"  carillon import calendar holidays.ics --name holidays --dry-run",
	}
	cmd.AddCommand(newImportCrontabCommand(), newImportXXLJobCommand(), newImportPowerJobCommand(), newImportCalendarCommand(), newImportKubernetesCommand())
	return cmd
}

// crontabOptions are the flags of import crontab.
type crontabOptions struct {
	crontab.Options
	wrapOptions
	dryRun bool
	paused bool
	prune  bool
}

func newImportCrontabCommand() *cobra.Command {
	var o crontabOptions
	cmd := &cobra.Command{
		Use:   "crontab FILE",
		Short: "Import jobs from a crontab",
		Long: "Import jobs from a crontab (- for standard input), and print the result for each line. Broken\n" +
			"lines are reported and left out; the other jobs are saved, and the exit code is 1.\n\n" +
			"A comment \"# name: NAME\" right above a line names its job; otherwise its command does. A name\n" +
			"depends neither on the time nor on other lines, so an edited crontab can be imported again. Jobs of\n" +
			"an earlier import of the file whose lines are gone are listed; --prune deletes them, if nobody has\n" +
			"changed them since.\n\n" +
			"A job runs in the home directory of its user, as in cron, but as the user of the executor. After\n" +
			"downtime it runs once (misfire policy fire_once); cron would wait for the next time.\n\n" +
			"With --paused, no imported job fires until \"carillon resume\". Without it, jobs that exist stay\n" +
			"paused, or active, as they are.\n\n" +
			"With --watch, the lines stay with cron: print the crontab with each command run by \"carillon watch\",\n" +
			"and save a job for each line, which waits for its reports. The table goes to standard error. On any\n" +
			"error the crontab is printed as it was. Commands and variables are not sent to the server.\n\n" +
			"With -o yaml or -o json, print the jobs as documents for \"carillon apply\". Nothing is saved, and\n" +
			"no server is needed.",
		Example: "  crontab -l | carillon import crontab - --group ops --dry-run\n" +
			"  carillon import crontab /etc/crontab --group ops\n" +
			"  carillon import crontab examples/crontab --group ops --zone Europe/Berlin -o yaml > jobs.yaml\n" +
			"  crontab -l > old && carillon import crontab old --watch > new && crontab new\n" +
			"  carillon import crontab /etc/cron.d --watch --in-place",
		Args: cobra.ExactArgs(1),
	}
	echoErrors(cmd)
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&o.Group, "group", "default", "the executor `group` of the jobs")
	cmd.Flags().StringVar(&o.Zone, "zone", "", "time `zone` where no CRON_TZ is set (default this machine's)")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "working directory of jobs if no HOME is set (default: the home of their user)")
	cmd.Flags().BoolVar(&o.System, "system", false, "each command has a user before it (default: detected)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the result for each line without saving")
	cmd.Flags().BoolVar(&o.paused, "paused", false, "save all jobs paused")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "delete jobs of an earlier import of this file whose lines are gone")
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.stays() {
			return o.wrap(r, cmd, args[0])
		}
		lines, err := o.read(cmd, args[0])
		if err != nil {
			return nothingChanged(err)
		}
		results := map[string]string{}
		if !r.Output.IsData() {
			err = importLines(r, cmd, args[0], lines, results, o)
		} else {
			err = printJobs(cmd.OutOrStdout(), r.Output, jobsOf(lines))
			drawBroken(cmd.ErrOrStderr(), lines)
			drawPitfalls(cmd.ErrOrStderr(), jobsOf(lines))
		}
		if err != nil {
			return err
		}
		return unlessChanged(results, brokenLines(lines))
	}
	return cmd
}

// read returns what each line of a crontab is, and completes the options.
func (o *crontabOptions) read(cmd *cobra.Command, file string) ([]crontab.Line, error) {
	data, err := readImport("crontab", file, cmd.InOrStdin(), crontab.MaxFile)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("system") {
		if o.System, err = crontab.IsSystem(file, data); err != nil {
			return nil, cli.Usage(err)
		}
	}
	if o.Zone == "" {
		o.Zone = cli.LocalZone()
	}
	if o.Dir, err = absolute(o.Dir); err != nil {
		return nil, err
	}
	o.Home = homeOf
	lines, err := crontab.Import(cmd.Context(), data, o.Options)
	for i := range lines {
		lines[i].Job.Paused = o.paused
	}
	return lines, cli.Usage(err)
}

// importLines saves the jobs, and shows what became of each line. It adds the results by job.
func importLines(r *cli.Remote, cmd *cobra.Command, file string, lines []crontab.Line, results map[string]string, o crontabOptions) error {
	var left []Change
	warnings := map[string][]client.FieldError{}
	if jobs := jobsOf(lines); len(jobs) > 0 {
		p, changes, leftOver, err := planImport(r, cmd, file, jobs, o)
		if err != nil {
			return nothingChanged(err)
		}
		if left = leftOver; o.prune {
			changes = append(changes, left...)
		}
		if !o.dryRun {
			if err := carryOut(cmd.Context(), p, changes); err != nil {
				return err
			}
		}
		for _, c := range changes {
			results[c.Name], warnings[c.Name] = c.Result, c.Warnings
		}
	}
	return cli.AsTable.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), nil, func(t *draw.Table) { drawImport(t, lines, results, warnings, left, o) })
}

// planImport returns what the jobs of a crontab would change, and the jobs that an earlier import left.
func planImport(r *cli.Remote, cmd *cobra.Command, file string, jobs []imported, o crontabOptions) (p planner, changes, left []Change, err error) {
	docs, err := documentsOf(file, jobs)
	if err != nil {
		return p, nil, nil, err
	}
	if p.api, err = r.API(); err != nil {
		return p, nil, nil, err
	}
	if changes, err = p.plan(cmd.Context(), docs); err != nil {
		return p, nil, nil, err
	}
	origin, err := originOf(file)
	if err != nil {
		return p, nil, nil, err
	}
	for i := range changes {
		changes[i].note = origin
	}
	left, err = p.leftOver(cmd.Context(), o.Group, origin, changes)
	return p, changes, left, err
}

// originOf returns the note of jobs that are made of a crontab. It tells the crontabs of machines apart, and
// on standard input those of users.
func originOf(file string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the name of this machine: %w", err)
	}
	if file == "-" {
		if u, err := user.Current(); err == nil {
			host = u.Username + "@" + host
		}
		return "crontab " + host + ":-", nil
	}
	path, err := absolute(file)
	return "crontab " + host + ":" + path, err
}

// leftOver returns the deletion of each job of a group that an earlier import of the same file has made, that
// nobody has changed since, and that the file makes no more.
func (p planner) leftOver(ctx context.Context, group, origin string, made []Change) ([]Change, error) {
	page, err := p.api.Jobs(ctx, client.ListJobsParams{Group: &group, Fires: new(0), Runs: new(0)}, 0)
	if err != nil {
		return nil, err
	}
	var left []Change
	for _, item := range page.Items {
		name := string(item.Definition.Job.Job)
		if item.Definition.Note == origin && !slices.ContainsFunc(made, func(c Change) bool { return c.Name == name }) {
			left = append(left, Change{Kind: manifest.Job, Name: name, Result: deleted, revision: item.Revision})
		}
	}
	return left, nil
}

// imported is a job that was made of something in a file.
type imported struct {
	job  job.Job
	line int
	// called is set for a job without a schedule that a workflow of the file calls.
	called bool
}

// document returns the job as it is written. One that is called may not be paused, even if it was before.
func (i *imported) document() any {
	if !i.called {
		return i.job
	}
	return struct {
		job.Job
		Paused bool `json:"paused"`
	}{i.job, false}
}

// markCalled marks the jobs that workflows among them call.
func markCalled(jobs []imported) {
	called := map[job.Name]bool{}
	for i := range jobs {
		for _, s := range jobs[i].job.Steps {
			called[s.Call] = true
		}
	}
	for i := range jobs {
		jobs[i].called = called[jobs[i].job.Job] && jobs[i].job.Schedule.Kind() == job.KindManual
	}
}

// jobsOf returns the jobs among lines.
func jobsOf(lines []crontab.Line) []imported {
	var jobs []imported
	for _, l := range lines {
		if l.Outcome == crontab.Imported {
			jobs = append(jobs, imported{job: l.Job, line: l.Number})
		}
	}
	return jobs
}

// documentsOf returns jobs as documents of the file that they were made of.
func documentsOf(file string, jobs []imported) ([]manifest.Document, error) {
	docs := make([]manifest.Document, 0, len(jobs))
	for _, i := range jobs {
		data, err := json.Marshal(i.document())
		if err != nil {
			return nil, fmt.Errorf("encode job %s: %w", i.job.Job, err)
		}
		docs = append(docs, manifest.Document{Kind: manifest.Job, Name: string(i.job.Job), JSON: data, File: file, Line: i.line})
	}
	return docs, nil
}

// printJobs writes jobs as documents.
func printJobs(w io.Writer, f cli.Format, jobs []imported) error {
	out := bufio.NewWriter(w)
	for n, i := range jobs {
		if f == cli.AsYAML && n > 0 {
			_, _ = out.WriteString("---\n")
		}
		if err := f.Show(out, draw.Clock{}, i.document(), nil); err != nil {
			return err
		}
	}
	return out.Flush()
}

func drawImport(t *draw.Table, lines []crontab.Line, results map[string]string, warnings map[string][]client.FieldError, left []Change, o crontabOptions) {
	t.Row("LINE", "OUTCOME", "JOB", "NOTE")
	count, said := map[crontab.Outcome]int{}, map[client.FieldError]bool{}
	for _, l := range lines {
		count[l.Outcome]++
		name, outcome, note := "-", string(l.Outcome), l.Note
		if l.Outcome == crontab.Imported {
			name = string(l.Job.Job)
			outcome = results[name]
		}
		if note == "" {
			note = l.Text
		}
		t.Row(strconv.Itoa(l.Number), outcome, name, t.Cell(note, 110))
		drawImportWarnings(t, warnings[name], said)
	}
	for _, c := range left {
		if o.prune {
			t.Row("-", deleted, c.Name, "no line of the file makes it any more")
			continue
		}
		t.Row("-", "left over", c.Name, "no line of the file makes it any more, and it still fires; --prune deletes it")
	}
	text := fmt.Sprintf("%s, %s, %d skipped, %d broken; group %s, zone %s",
		draw.Count(count[crontab.Imported], "job"), draw.Count(count[crontab.Setting], "setting"), count[crontab.Skipped], count[crontab.Broken], o.Group, o.Zone)
	if o.System {
		text += ", read as a system crontab"
	}
	t.Line(text + savedAs(o.paused, o.dryRun))
}

// savedAs ends the last line of an import.
func savedAs(paused, dryRun bool) (text string) {
	if paused {
		text = "; saved paused"
	}
	if dryRun {
		text += " (dry run: nothing was saved)"
	}
	return text
}

// drawBroken lists what is not among the documents, where the table is not shown.
func drawBroken(w io.Writer, lines []crontab.Line) {
	for _, l := range lines {
		if l.Outcome == crontab.Broken || l.Outcome == crontab.Skipped {
			_, _ = fmt.Fprintf(w, "line %d %s: %s\n", l.Number, l.Outcome, l.Note)
		}
	}
}

// drawPitfalls lists where schedules fire at other times than many people expect. No server is asked: it
// would say the same.
func drawPitfalls(w io.Writer, jobs []imported) {
	for _, i := range jobs {
		for _, p := range i.job.Schedule.Pitfalls(i.job.Job, time.Now()) {
			_, _ = fmt.Fprintf(w, "%s: warning: %s\n", i.job.Job, p)
		}
	}
}

// brokenLines is the error of a crontab with lines that are broken.
func brokenLines(lines []crontab.Line) error {
	var numbers []string
	for _, l := range lines {
		if l.Outcome == crontab.Broken {
			numbers = append(numbers, strconv.Itoa(l.Number))
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	which := "line "
	if len(numbers) > 1 {
		which = "lines "
	}
	return cli.ExitWith(cli.ExitError, errors.New("broken and left out: "+which+strings.Join(numbers, ", ")))
}

// readImport reads the file to import, also one compressed with gzip; - is standard input. It
// reads up to one byte more than most, so that the caller sees that a file is too large.
func readImport(what, name string, stdin io.Reader, most int64) ([]byte, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the person who runs the command names it
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	whole := bufio.NewReader(from)
	from = whole
	if magic, _ := whole.Peek(2); string(magic) == "\x1f\x8b" { // what fails to be read fails below, too
		unpacked, err := gzip.NewReader(whole)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", what, err)
		}
		from = unpacked
	}
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return data, nil
}

// homeOf returns a user's home on this machine; "" is the one who runs the program.
func homeOf(name string) string {
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return home
	}
	u, err := user.Lookup(name)
	if err != nil {
		return ""
	}
	return u.HomeDir
}

func absolute(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find folder %s: %w", dir, err)
	}
	return path, nil
}
