package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/manifest"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	documents "github.com/carillon-scheduler/carillon/internal/manifest"
)

// changeOptions are the flags of change.
type changeOptions struct {
	jobs             selection.Jobs
	tags             []string
	set, unset       []string
	file, undo, note string
}

func newChangeCommand() *cobra.Command {
	var o changeOptions
	cmd := &cobra.Command{
		Use:   "change JOB... | --tag TAG | --group GROUP | --undo ID",
		Short: "Change any field of many jobs",
		Long: "Change fields of jobs, named or selected by a filter, at most 500 at once. The command shows how each\n" +
			"job would change and asks for confirmation. A job that somebody else changes meanwhile, or that the\n" +
			"change would make invalid, is refused; the others are saved. The change has one entry in the audit\n" +
			"log. --undo with its id restores the jobs that have no newer version.\n\n" +
			"A value of --set is JSON if it can be read as JSON, else text. --patch merges objects, and replaces\n" +
			"lists; null removes a field.",
		Example: "  carillon change --tag nightly --set timeout=5m --set retry.limit=3 --dry-run\n" +
			"  carillon change ops/a ops/b --set schedule.zone=Europe/Berlin --unset owner --note \"moved to Berlin\"\n" +
			"  carillon change --group ops --patch limits.yaml --yes\n" +
			"  carillon change --undo 1gq3k7wz2ab0000abcd",
		Args: func(_ *cobra.Command, args []string) error {
			switch filtered := o.jobs.Given() || len(o.tags) > 0; {
			case o.undo != "" && (filtered || len(args) > 0):
				return errors.New("--undo is about all jobs of that change: name none, and select none")
			case o.undo == "" && len(o.set)+len(o.unset) == 0 && o.file == "":
				return errors.New("say what to change with --set, --unset or --patch")
			case o.undo == "" && !cli.ExactlyOne(len(args) > 0, filtered):
				return errors.New("name jobs, or select them with a filter such as --tag")
			}
			return nil
		},
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	o.jobs.Flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.tags, "tag", nil, "jobs with this `tag`; can be repeated")
	f.StringArrayVar(&o.set, "set", nil, "set a field, as in `FIELD=VALUE`; can be repeated")
	f.StringArrayVar(&o.unset, "unset", nil, "remove this `field`; can be repeated")
	f.StringVar(&o.file, "patch", "", "`file` with the fields to change, in YAML or JSON; - is standard input")
	f.StringVar(&o.undo, "undo", "", "undo the change with this `id`")
	f.StringVar(&o.note, "note", "", "the reason, for the audit log")
	cmd.MarkFlagsMutuallyExclusive("undo", "set")
	cmd.MarkFlagsMutuallyExclusive("undo", "unset")
	cmd.MarkFlagsMutuallyExclusive("undo", "patch")
	cmd.MarkFlagsMutuallyExclusive("patch", "set")
	cmd.MarkFlagsMutuallyExclusive("patch", "unset")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(r, cmd, args) }
	return cmd
}

// run shows what would change of each job, and changes those.
func (o *changeOptions) run(r *cli.Remote, cmd *cobra.Command, args []string) error {
	request, err := o.request(cmd, args)
	if err != nil {
		return cli.Usage(err)
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	ask := func(dryRun bool) (client.JobPatchResult, error) {
		return client.Read[client.JobPatchResult](api.PatchJobs(cmd.Context(), &client.PatchJobsParams{DryRun: &dryRun}, request))
	}
	result, err := ask(true)
	if err != nil {
		return err
	}
	var targets []client.JobPatchTarget
	for i := range result.Items {
		if item := &result.Items[i]; item.Result == client.BulkOutcomeChanged {
			targets = append(targets, client.JobPatchTarget{Job: item.Job, Version: item.Version})
		}
	}
	if len(targets) == 0 {
		result.DryRun = o.jobs.DryRun // there is nothing to save
	}
	show := func(w io.Writer) error {
		return r.Show(w, result, func(t *draw.Table) { drawPatched(t, &result) })
	}
	if !o.jobs.DryRun && len(targets) > 0 {
		if request.Filter != nil {
			if o.jobs.Asks(cmd) {
				if err := show(cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			if _, err := o.jobs.Settle(cmd, "Change", "job", len(targets)); err != nil {
				return err
			}
		}
		refused := slices.DeleteFunc(slices.Clone(result.Items), func(item client.JobPatchItem) bool { return item.Problem == nil })
		if o.undo == "" { // an undo has the versions of its change
			request.Filter, request.Jobs = nil, targets
		}
		if result, err = ask(false); err != nil {
			return err
		}
		if o.undo == "" {
			result.Items = append(result.Items, refused...)
		}
	}
	return errors.Join(show(cmd.OutOrStdout()), refusedOf(&result))
}

// request returns what the flags and the names of jobs ask for.
func (o *changeOptions) request(cmd *cobra.Command, args []string) (client.JobPatch, error) {
	request := client.JobPatch{Undo: o.undo, Note: o.note}
	for _, arg := range args {
		name, err := cli.JobName(arg)
		if err != nil {
			return request, err
		}
		request.Jobs = append(request.Jobs, client.JobPatchTarget{Job: name})
	}
	for _, tag := range o.tags {
		o.jobs.Tag(tag)
	}
	if o.jobs.Given() {
		request.Filter = o.jobs.Filter()
	}
	if o.undo != "" {
		return request, nil
	}
	var err error
	if request.Patch, err = o.patch(cmd); err == nil && request.Patch == nil {
		err = fmt.Errorf("%s: has no fields", o.file)
	}
	return request, err
}

// patch returns the patch that the flags describe.
func (o *changeOptions) patch(cmd *cobra.Command) (json.RawMessage, error) {
	switch o.file {
	case "":
		patch := map[string]any{}
		for _, assignment := range o.set {
			field, text, ok := strings.Cut(assignment, "=")
			if !ok {
				return nil, fmt.Errorf("--set %q must be FIELD=VALUE, such as timeout=5m", assignment)
			}
			var value any = text
			if json.Valid([]byte(text)) {
				value = json.RawMessage(text)
			}
			if err := put(patch, field, value); err != nil {
				return nil, err
			}
		}
		for _, field := range o.unset {
			if err := put(patch, field, nil); err != nil {
				return nil, err
			}
		}
		return json.Marshal(patch)
	case "-":
		return documents.Object("standard input", cmd.InOrStdin())
	}
	file, err := os.Open(o.file)
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	defer func() { _ = file.Close() }()
	return documents.Object(o.file, file)
}

// put sets a field, such as schedule.zone, of a patch that has neither it nor a part of it.
func put(patch map[string]any, field string, value any) error {
	path := strings.Split(field, ".")
	for i, name := range path[:len(path)-1] {
		inner, ok := patch[name].(map[string]any)
		if _, given := patch[name]; given && !ok {
			return fmt.Errorf("%s and %s cannot both be given", strings.Join(path[:i+1], "."), field)
		}
		if !ok {
			inner = map[string]any{}
			patch[name] = inner
		}
		patch = inner
	}
	last := path[len(path)-1]
	if _, given := patch[last]; given || last == "" {
		return fmt.Errorf("field %q is given twice, or is no field", field)
	}
	patch[last] = value
	return nil
}

// drawPatched draws how each job was changed, or would be, and how to undo that.
func drawPatched(t *draw.Table, result *client.JobPatchResult) {
	var changes []manifest.Change
	for i := range result.Items {
		if item := &result.Items[i]; item.Problem == nil {
			changes = append(changes, manifest.Change{Kind: "job", Name: string(item.Job), Result: string(item.Result), Fields: item.Changes, Warnings: item.Warnings})
		}
	}
	if len(result.Items) == 0 {
		t.Line("no jobs")
		return
	}
	manifest.DrawChanges(t, changes, result.DryRun)
	if result.Change != "" {
		t.Line("undo with: carillon change --undo " + result.Change)
	}
}

// refusedOf joins why jobs were refused.
func refusedOf(result *client.JobPatchResult) error {
	var refused []error
	for i := range result.Items {
		if item := &result.Items[i]; item.Problem != nil {
			refused = append(refused, fmt.Errorf("%s: %w", item.Job, item.Problem))
		}
	}
	return errors.Join(refused...)
}
