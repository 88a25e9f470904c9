package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

// applyOptions are the flags of apply.
type applyOptions struct {
	files              []string
	dryRun, prune, yes bool
	exitCode           bool
	notes              map[string]string // of the versions that are saved, by the name of the job; nil is none
}

func newApplyCommand() *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Create or update jobs, calendars, channels and alert rules from files",
		Long: "Create or update jobs, calendars, notification channels and alert rules from YAML or JSON files. A\n" +
			"file can hold several documents. A folder stands for all files in and below it, and - for standard\n" +
			"input. The server checks all documents before it saves the first. Unchanged documents are left\n" +
			"alone.\n\n" +
			"--prune also deletes jobs that are no longer in the files, but only in the groups of the jobs in\n" +
			"the files. It lists them and asks first; without a terminal it requires --yes.",
		Example: "  carillon apply -f jobs.yaml\n" +
			"  carillon apply -f jobs/ --dry-run\n" +
			"  carillon apply -f jobs/ --prune --dry-run --exit-code\n" +
			"  carillon apply -f jobs/ --prune --yes\n" +
			"  printf 'job: ops/hello\\ntask: {shell: echo hello}\\n' | carillon apply -f -",
		Args: cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "file", "f", nil, "`FILE`, folder or -; can be repeated")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "with --dry-run: exit with 7 if files and server differ")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "delete jobs in the same groups that are not in the files")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask before --prune deletes")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if len(o.files) == 0 {
			return cli.Usage(errors.New("name a file, a folder, or - for standard input with -f"))
		}
		if o.exitCode && !o.dryRun {
			return cli.Usage(errors.New("--exit-code is for --dry-run"))
		}
		docs, err := manifest.Read(o.files, cmd.InOrStdin())
		if err != nil {
			return nothingChanged(err)
		}
		if len(docs) == 0 {
			return nothingChanged(cli.ExitWith(cli.ExitError, fmt.Errorf("no documents in %s", strings.Join(o.files, ", "))))
		}
		return apply(r, cmd, docs, o)
	}
	return cmd
}

// apply saves documents, and shows what changed.
func apply(r *cli.Remote, cmd *cobra.Command, docs []manifest.Document, o applyOptions) error {
	p, changes, err := o.plan(r, cmd, docs)
	if err != nil {
		return nothingChanged(err)
	}
	if !o.dryRun {
		if err := carryOut(cmd.Context(), p, changes); err != nil {
			return err
		}
	}
	err = r.Show(cmd.OutOrStdout(), applied{o.dryRun, changes}, func(t *draw.Table) { DrawChanges(t, changes, o.dryRun) })
	if err == nil && o.exitCode && slices.ContainsFunc(changes, func(c Change) bool { return c.Result != unchanged }) {
		return cli.ExitWith(cli.ExitDiffers, nil)
	}
	return err
}

// plan returns what apply would change, with the deletions that a person has confirmed.
func (o applyOptions) plan(r *cli.Remote, cmd *cobra.Command, docs []manifest.Document) (planner, []Change, error) {
	api, err := r.API()
	if err != nil {
		return planner{}, nil, err
	}
	p := planner{api: api}
	changes, err := p.plan(cmd.Context(), docs)
	for i := range changes {
		changes[i].note = o.notes[changes[i].Name]
	}
	if err != nil || !o.prune {
		return p, changes, err
	}
	deletions, err := p.prune(cmd.Context(), changes)
	if err != nil {
		return p, nil, err
	}
	return p, append(changes, deletions...), o.confirm(cmd, deletions)
}

// applied is the answer of apply.
type applied struct {
	DryRun bool     `json:"dry_run"`
	Items  []Change `json:"items"`
}

// carryOut makes the changes. Its error states how many were made.
func carryOut(ctx context.Context, p planner, changes []Change) error {
	made, err := p.carryOut(ctx, changes)
	if err == nil {
		return nil
	}
	hint := "apply again for the rest"
	if errors.Is(err, job.ErrConflict) {
		hint = "somebody else changed it meanwhile; apply again for the rest"
	}
	return fmt.Errorf("%w\n%s made before that; %s", err, draw.Count(made, "change"), hint)
}

// nothingChanged adds to an error that no document was saved.
func nothingChanged(err error) error {
	const words = "nothing was changed"
	if err == nil || strings.HasSuffix(err.Error(), words) {
		return err
	}
	return fmt.Errorf("%w\n"+words, err)
}

// unlessChanged is [nothingChanged] of an error beside which no job has such a result.
func unlessChanged[Name comparable](results map[Name]string, err error) error {
	for _, result := range results {
		if result == created || result == changed || result == deleted {
			return err
		}
	}
	return nothingChanged(err)
}

// confirm asks a person before jobs are deleted.
func (o applyOptions) confirm(cmd *cobra.Command, deletions []Change) error {
	if len(deletions) == 0 || o.yes || o.dryRun {
		return nil
	}
	out := cmd.ErrOrStderr()
	_, _ = fmt.Fprintf(out, "%s not in the files, to be deleted:\n", draw.Count(len(deletions), "job"))
	for _, d := range deletions {
		_, _ = fmt.Fprintln(out, "  "+d.Name)
	}
	if slices.Contains(o.files, "-") || !cli.IsTerminal(cmd.InOrStdin()) {
		return cli.Usage(errors.New("--prune would delete jobs; confirm with --yes"))
	}
	return cli.Confirm(cmd, "Delete them?")
}
