package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newGetVersionsCommand() *cobra.Command {
	var from, to int
	cmd := &cobra.Command{
		Use:   "versions JOB",
		Short: "The versions of a job that are kept, with who saved them and why",
		Long: "The versions of a job that are kept, newest first, its script among them (-o yaml). With --from or --to, in what\n" +
			"two of them differ. What another version would change now is shown by \"carillon restore JOB --version N --dry-run\".",
		Example: "  carillon get versions billing/report\n  carillon get versions billing/report --from 3 --to 5\n  carillon get versions billing/report -o json | jq -r '.items[1].task.script.source'",
		Args:    cobra.ExactArgs(1),
	}
	r := newRemote(cmd)
	cmd.Flags().IntVar(&from, "from", 0, "show what has changed since this `version` (default: since the one before)")
	cmd.Flags().IntVar(&to, "to", 0, "show what has changed up to this `version` (default: the newest)")
	cmd.ValidArgsFunction = r.jobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := jobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		if from != 0 || to != 0 {
			d, err := client.Read[client.JobDiff](api.DiffJob(cmd.Context(), name.Group(), name.Short(), &client.DiffJobParams{From: client.Optional(from), To: client.Optional(to)}))
			if err != nil {
				return err
			}
			return r.output.show(cmd.OutOrStdout(), d, func(t *table) { drawDiff(t, d) })
		}
		list, err := client.Read[client.VersionList](api.ListJobVersions(cmd.Context(), name.Group(), name.Short()))
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), list, func(t *table) { drawVersions(t, list) })
	}
	return cmd
}

func drawVersions(t *table, list client.VersionList) {
	t.row("VERSION", "SINCE", "BY", "TASK", "NOTE")
	for _, v := range list.Items {
		what := v.Task.Kind() + ": " + taskText(v.Task)
		switch {
		case v.Format > job.VersionFormat:
			what = "a newer server saved it, and this program cannot read it"
		case v.Deleted:
			what = "deleted"
		}
		t.row(strconv.Itoa(v.Version), instant(v.EffectiveFrom), cell(v.Author, 20), cell(what, 60), cell(v.Note, noteWidth))
	}
}

func drawDiff(t *table, d client.JobDiff) {
	if len(d.Changes) == 0 {
		t.line(fmt.Sprintf("versions %d and %d of %s are equal", d.From, d.To, d.Job))
		return
	}
	for _, c := range d.Changes {
		t.line(fieldChange(c))
	}
}

func newRestoreCommand() *cobra.Command {
	var version, replicas int
	var note, file string
	var dryRun bool
	var o operatorOptions
	cmd := &cobra.Command{
		Use:   "restore JOB --version N | restore -f FILE",
		Short: "Make an earlier version of a job its newest one, or bring a backup back",
		Long: "Save what a job was in an earlier version as its next one, its script included. It is shown which fields that changes;\n" +
			"with --dry-run that is all. A deleted job comes back by it.\n\n" +
			"With --file, bring back what \"carillon backup\" wrote: into a NATS account that has no Carillon yet, before servers are\n" +
			"started on it. It takes what a server connects to NATS with. A file that is not whole is refused; a restore that breaks off\n" +
			"is begun again with the same file, and until it has ended no server starts. What was due in between is not caught up.\n" +
			"With --dry-run it is shown how what is there differs from the file.",
		Example: "  carillon get versions billing/report\n" +
			"  carillon restore billing/report --version 3 --dry-run\n" +
			"  carillon restore billing/report --version 3 --note \"the new script loses rows\"\n" +
			"  carillon restore -f carillon.backup --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys --replicas 3",
		Args: cobra.MaximumNArgs(1),
	}
	r := newRemote(cmd)
	cmd.ValidArgsFunction = r.jobNames
	cmd.Flags().IntVar(&version, "version", 0, "the `number` of the version")
	cmd.Flags().StringVar(&note, "note", "", "why, for the record (default: which version it was)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	o.flags(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the `file` of a backup")
	cmd.Flags().IntVar(&replicas, "replicas", 1, "with --file: copies of each stream: 1, 3 or 5")
	cmd.MarkFlagsOneRequired("version", "file")
	cmd.MarkFlagsMutuallyExclusive("version", "file")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if file != "" {
			if err := cobra.NoArgs(cmd, args); err != nil {
				return usage(err)
			}
			return restoreSystem(cmd, &o, r.output, file, replicas, dryRun)
		}
		if err := cobra.ExactArgs(1)(cmd, args); err != nil {
			return usage(err)
		}
		name, err := jobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		if note == "" {
			note = fmt.Sprintf("version %d restored", version)
		}
		put, err := restore(cmd.Context(), api, name, version, &client.PutJobParams{Note: &note, DryRun: &dryRun})
		if err != nil {
			return err
		}
		return r.output.show(cmd.OutOrStdout(), put, func(t *table) {
			drawChanges(t, []change{{Kind: "job", Name: string(name), Result: string(put.Result), Fields: put.Changes, Warnings: put.Warnings}}, dryRun)
		})
	}
	return cmd
}

// restore saves a version again, unless somebody else has saved another meanwhile.
func restore(ctx context.Context, api *client.API, name job.Name, version int, params *client.PutJobParams) (client.PutJobResult, error) {
	var none client.PutJobResult
	list, err := client.Read[client.VersionList](api.ListJobVersions(ctx, name.Group(), name.Short()))
	if err != nil {
		return none, err
	}
	found := -1
	for i, v := range list.Items {
		if v.Version == version && v.Format > job.VersionFormat {
			return none, fmt.Errorf("%w: version %d of job %s was saved by a newer server; restore it with a program of that version", job.ErrConflict, version, name)
		}
		if v.Version == version && !v.Deleted {
			found = i
		}
	}
	if found < 0 {
		return none, fmt.Errorf("%w: version %d of job %s; see: carillon get versions %s", job.ErrNotFound, version, name, name)
	}
	item, err := client.Read[client.JobItem](api.GetJob(ctx, name.Group(), name.Short(), nil))
	switch {
	case errors.Is(err, job.ErrNotFound):
		params.IfNoneMatch = new("*") // it is deleted
	case err != nil:
		return none, err
	default:
		params.IfMatch = new(strconv.Quote(strconv.FormatUint(item.Revision, 10)))
	}
	document, err := json.Marshal(list.Items[found].Job)
	if err != nil {
		return none, fmt.Errorf("encode job %s: %w", name, err)
	}
	return client.Read[client.PutJobResult](api.PutJobWithBody(ctx, name.Group(), name.Short(), params, "application/json", bytes.NewReader(document)))
}
