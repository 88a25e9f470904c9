package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	"github.com/carillon-scheduler/carillon/internal/elsewhere"
	"github.com/carillon-scheduler/carillon/job"
)

// wrapOptions are the flags of import crontab for crontabs that stay with cron.
type wrapOptions struct {
	watch, unwatch bool
	inPlace        bool
	outDir         string
	noHost         bool
	program        string
	grace          time.Duration
}

func (o *wrapOptions) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.watch, "watch", false, "print the crontab with each command run by \"carillon watch\", and save jobs that wait for its reports")
	cmd.Flags().BoolVar(&o.unwatch, "unwatch", false, "print the crontab as it was before --watch; ask no server")
	cmd.Flags().BoolVar(&o.inPlace, "in-place", false, "with --watch or --unwatch, change the files themselves, and keep a copy (.FILE.carillon-backup)")
	cmd.Flags().StringVar(&o.outDir, "out-dir", "", "with --watch or --unwatch, write the crontabs to this `directory` in place of standard output")
	cmd.Flags().BoolVar(&o.noHost, "no-host", false, "with --watch, begin the names of jobs without the name of this machine")
	cmd.Flags().StringVar(&o.program, "program", "", "with --watch, the `file` of carillon that the lines name (default: this program)")
	cmd.Flags().Var(cli.Duration(&o.grace, job.DefaultWatchGrace.Std()), "grace", "with --watch, how long after its time a line may report")
	cmd.MarkFlagsMutuallyExclusive("watch", "unwatch")
	cmd.MarkFlagsMutuallyExclusive("in-place", "out-dir")
	cmd.MarkFlagsMutuallyExclusive("unwatch", "prune")
}

// stays reports whether the crontab stays with cron.
func (o *wrapOptions) stays() bool { return o.watch || o.unwatch }

// wrapped is a crontab, before and after.
type wrapped struct {
	file          string
	before, after []byte
	lines         []crontab.Line
	system        bool
}

// echoErrors prints a crontab of standard input as it was if the command line is wrong: the output may be on its
// way to "crontab -", which would install nothing.
func echoErrors(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		echo(cmd, cmd.Flags().Args())
		return err
	})
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err != nil {
			echo(cmd, args)
		}
		return err
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		err := cmd.ValidateFlagGroups()
		if err != nil {
			echo(cmd, args)
		}
		return err
	}
}

// echo copies standard input, if it is among the arguments, or no argument is known yet.
func echo(cmd *cobra.Command, args []string) {
	if len(args) > 0 && !slices.Contains(args, "-") || cli.IsTerminal(cmd.InOrStdin()) {
		return
	}
	_, _ = io.Copy(cmd.OutOrStdout(), io.LimitReader(cmd.InOrStdin(), crontab.MaxFile))
}

// wrap prints or writes a crontab whose lines report, or do so no more. On an error, what is printed is the
// crontab as it was.
func (o crontabOptions) wrap(r *cli.Remote, cmd *cobra.Command, name string) error {
	files, err := o.readAll(cmd, name)
	if err == nil {
		err = o.wrapAll(r, cmd, files)
	} else {
		err = nothingChanged(cli.Usage(err))
	}
	if err != nil && len(files) > 0 && (!o.inPlace || files[0].file == "-") && o.outDir == "" && !r.Output.IsData() {
		_, _ = cmd.OutOrStdout().Write(files[0].before)
	}
	return err
}

func (o crontabOptions) wrapAll(r *cli.Remote, cmd *cobra.Command, files []wrapped) error {
	if o.inPlace && files[0].file == "-" {
		return nothingChanged(cli.Usage(errors.New("--in-place needs a file")))
	}
	if o.unwatch {
		for i := range files {
			files[i].after, files[i].lines = crontab.Unwrap(files[i].before, files[i].system)
		}
		if err := o.draw(cmd, files, nil, nil); err != nil {
			return err
		}
		return o.write(cmd, files)
	}
	if o.Zone == "" {
		o.Zone = cli.LocalZone()
	}
	if err := o.wrapEach(cmd.Context(), files); err != nil {
		return nothingChanged(cli.Usage(err))
	}
	if r.Output.IsData() {
		return printJobs(cmd.OutOrStdout(), r.Output, watchedBy(files))
	}
	results, left, err := o.save(r, cmd, files)
	if err != nil {
		return nothingChanged(err)
	}
	if err := o.draw(cmd, files, results, left); err != nil {
		return err
	}
	return o.write(cmd, files)
}

// readAll reads the crontab, or those of a folder. On an error it returns what it has read.
func (o *crontabOptions) readAll(cmd *cobra.Command, name string) (files []wrapped, err error) {
	names := []string{name}
	if info, err := os.Stat(name); name != "-" && err == nil && info.IsDir() {
		if !o.inPlace && o.outDir == "" {
			return nil, fmt.Errorf("%s is a directory; choose --out-dir DIRECTORY or --in-place", name)
		}
		if names, err = crontabsOf(name); err != nil {
			return nil, err
		}
	}
	for _, file := range names {
		data, err := readImport("crontab", file, cmd.InOrStdin(), crontab.MaxFile)
		w := wrapped{file: file, before: data, system: o.System}
		if err == nil && !cmd.Flags().Changed("system") {
			w.system, err = crontab.IsSystem(file, data)
		}
		if files = append(files, w); err != nil {
			return files, err
		}
	}
	return files, nil
}

// crontabsOf returns the files of a folder that cron reads.
func crontabsOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read crontabs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.ContainsAny(e.Name(), ".~#") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("directory %s has no crontab", dir)
	}
	return names, nil
}

// wrapEach wraps the crontabs.
func (o *crontabOptions) wrapEach(ctx context.Context, files []wrapped) error {
	program := o.program
	var err error
	if program == "" {
		program, err = os.Executable()
	} else {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return fmt.Errorf("find the path of this program: %w", err)
	}
	if strings.ContainsAny(program, " \t%'\"\\$`") || filepath.Base(program) != "carillon" {
		return fmt.Errorf("%s cannot be written to a crontab; install the program as carillon, in a directory such as /usr/local/bin", program)
	}
	host, err := os.Hostname()
	if err != nil && !o.noHost {
		return fmt.Errorf("find the name of this machine: %w; choose --no-host", err)
	}
	short, _, _ := strings.Cut(host, ".")
	if short = job.Slug(short, maxHost); o.noHost {
		short = ""
	}
	seen := map[job.Name]string{}
	for i := range files {
		f := &files[i]
		options := o.Options
		options.System = f.system
		f.after, f.lines, err = crontab.Wrap(ctx, f.before, crontab.Wrapping{
			Options: options, Program: program, Host: short, Grace: o.grace, File: fileAt(f.file, host),
		})
		if err != nil {
			return err
		}
		for n := range f.lines {
			l := &f.lines[n]
			if l.Outcome != crontab.Wrapped {
				continue
			}
			if other, taken := seen[l.Job.Job]; taken {
				return fmt.Errorf("%s and %s both have a line for job %s; name one of them by a comment \"# name: NAME\" above it", other, f.file, l.Job.Job)
			}
			seen[l.Job.Job], l.Job.Paused = f.file, o.paused
		}
	}
	return nil
}

// maxHost is how long the name of the machine in names of jobs may be.
const maxHost = 20

// fileAt names a crontab in a description.
func fileAt(file, host string) string {
	name := "the crontab"
	if path, err := absolute(file); err == nil && file != "-" {
		name = path
	}
	return name + " on " + host
}

// watchedBy returns the jobs of wrapped lines.
func watchedBy(files []wrapped) (all []imported) {
	for _, f := range files {
		for _, l := range f.lines {
			if l.Outcome == crontab.Wrapped {
				all = append(all, imported{job: l.Job, line: l.Number})
			}
		}
	}
	return all
}

// save saves the jobs, and returns the results by job, and the jobs whose lines are gone.
func (o *crontabOptions) save(r *cli.Remote, cmd *cobra.Command, files []wrapped) (results map[string]string, left []Change, err error) {
	api, err := r.API()
	if err != nil {
		return nil, nil, err
	}
	results = map[string]string{}
	for _, f := range files {
		jobs := watchedBy([]wrapped{f})
		if len(jobs) == 0 {
			continue
		}
		for i := range jobs {
			if jobs[i].job, err = asSaved(cmd.Context(), api, jobs[i].job); err != nil {
				return nil, nil, err
			}
		}
		p, changes, gone, err := planImport(r, cmd, f.file, jobs, *o)
		if err != nil {
			return nil, nil, err
		}
		left = append(left, gone...)
		if o.prune {
			changes = append(changes, gone...)
		}
		if !o.dryRun {
			if err := carryOut(cmd.Context(), p, changes); err != nil {
				return nil, nil, err
			}
		}
		for _, c := range changes {
			results[c.Name] = c.Result
		}
	}
	return results, left, nil
}

// asSaved returns the job as the server has it, with the schedule of its line: people set its grace and its
// time limit there. The error is a conflict if there is a job of that name that an executor runs.
func asSaved(ctx context.Context, api *client.API, wish job.Job) (job.Job, error) {
	item, err := client.Read[client.JobItem](api.GetJob(ctx, wish.Job.Group(), wish.Job.Short(), nil))
	if errors.Is(err, job.ErrNotFound) {
		return wish, nil
	}
	if err != nil {
		return wish, err
	}
	is := item.Definition.Job
	if !is.Elsewhere() {
		return wish, fmt.Errorf("%w: job %s exists, and its runs are not done elsewhere; choose another --group, or a name by a comment \"# name: NAME\" above the line", job.ErrConflict, wish.Job)
	}
	if wish.Schedule.Cron != "" {
		is.Schedule.Cron, is.Schedule.Zone = wish.Schedule.Cron, wish.Schedule.Zone
	}
	return is, nil
}

// draw shows on standard error what became of each line.
func (o crontabOptions) draw(cmd *cobra.Command, files []wrapped, results map[string]string, left []Change) error {
	return cli.AsTable.Show(cmd.ErrOrStderr(), cli.ClockOf(cmd), nil, func(t *draw.Table) {
		t.Row("LINE", "OUTCOME", "JOB", "NOTE")
		count := map[crontab.Outcome]int{}
		var users []string
		for _, f := range files {
			for _, l := range f.lines {
				count[l.Outcome]++
				name, outcome, note := "-", string(l.Outcome), l.Note
				if l.Job.Job != "" {
					name = string(l.Job.Job)
				}
				if result := results[name]; result != "" {
					outcome += ", " + result
				}
				if note == "" {
					note = l.Text
				}
				line := strconv.Itoa(l.Number)
				if len(files) > 1 {
					line = filepath.Base(f.file) + ":" + line
				}
				t.Row(line, outcome, name, t.Cell(note, 110))
				if _, user, is := strings.Cut(l.Job.Description, ", which cron runs as "); is && !slices.Contains(users, user) {
					users = append(users, user)
				}
			}
		}
		for _, c := range left {
			if o.prune {
				t.Row("-", deleted, c.Name, "no line of the file makes it any more")
				continue
			}
			t.Row("-", "left over", c.Name, "no line of the file makes it any more, and its reports are missed; --prune deletes it")
		}
		if o.unwatch {
			t.Line(draw.Count(count[crontab.Unwrapped], "line") + " unwrapped; the jobs are kept: delete them with \"carillon delete\"")
			return
		}
		t.Line(fmt.Sprintf("%s wrapped, %d left alone, %d broken; group %s, zone %s%s", draw.Count(count[crontab.Wrapped], "line"),
			count[crontab.LeftAlone], count[crontab.Broken], o.Group, o.Zone, savedAs(o.paused, o.dryRun)))
		if count[crontab.LeftAlone] > 0 {
			t.Line("To watch a line that was left alone, create a job and a ping token, and add to the end of its command:\n" +
				"    ; curl -fsS -m 10 --retry 3 -o /dev/null SERVER/ping/TOKEN/$?")
		}
		for _, text := range elsewhere.Unreadable(users) {
			t.Line(text)
		}
	})
}

// write writes the crontabs to where they belong.
func (o crontabOptions) write(cmd *cobra.Command, files []wrapped) error {
	switch {
	case o.inPlace && o.dryRun, o.outDir != "" && o.dryRun:
		return nil
	case o.inPlace:
		for _, f := range files {
			if bytes.Equal(f.before, f.after) {
				continue
			}
			if err := replaceFile(f.file, f.before, f.after); err != nil {
				return fmt.Errorf("change %s: %w", f.file, err)
			}
		}
	case o.outDir != "":
		if err := os.MkdirAll(o.outDir, 0o750); err != nil {
			return fmt.Errorf("write crontabs: %w", err)
		}
		for _, f := range files {
			name := filepath.Base(f.file)
			if f.file == "-" {
				name = "crontab"
			}
			if err := os.WriteFile(filepath.Join(o.outDir, name), f.after, 0o600); err != nil {
				return fmt.Errorf("write crontab: %w", err)
			}
		}
	default:
		if _, err := cmd.OutOrStdout().Write(files[0].after); err != nil {
			return fmt.Errorf("write crontab: %w", err)
		}
	}
	return nil
}

// replaceFile replaces a file as a whole, with its mode. What it was before is kept beside it, under a name that
// no cron daemon reads, unless an earlier copy is there.
func replaceFile(name string, before, after []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	backup := filepath.Join(dir, "."+base+".carillon-backup")
	f, err := os.OpenFile(backup, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // beside the file that the person names
	if err == nil {
		_, err = f.Write(before)
		err = errors.Join(err, f.Sync(), f.Close())
	} else if errors.Is(err, os.ErrExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	temporary := filepath.Join(dir, "."+base+".carillon-new")
	if err := os.WriteFile(temporary, after, 0o600); err != nil {
		return err
	}
	err = os.Chmod(temporary, info.Mode().Perm())
	if err == nil {
		err = sameOwner(temporary, info)
	}
	if err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}
