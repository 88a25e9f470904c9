package manifest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

func newPromoteCommand() *cobra.Command {
	var o applyOptions
	var to string
	cmd := &cobra.Command{
		Use:   "promote JOB... --to CONTEXT",
		Short: "Copy jobs to another server",
		Long: "Copy jobs to the server of another context of \"carillon login\", such as from staging to production.\n" +
			"It shows what changes there. That server checks all jobs before it saves the first, and warns of\n" +
			"children, handlers and secrets that it does not have. Calendars have to be there. Each new version\n" +
			"notes where it comes from. Pauses, history and secrets are not copied.",
		Example: "  carillon promote billing/report --to production --dry-run\n" +
			"  carillon promote billing/report billing/close --context staging --to production",
		Args: cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	r.ContextFlag(cmd, &to, "to", "`name` of the context to copy to")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "with --dry-run: exit with 7 if the servers differ")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to == "" {
			return cli.Usage(errors.New("name the context to copy to with --to; \"carillon get contexts\" shows all"))
		}
		if o.exitCode && !o.dryRun {
			return cli.Usage(errors.New("--exit-code is for --dry-run"))
		}
		target, err := r.In(to)
		if err != nil {
			return err
		}
		docs, notes, err := read(r, cmd, args)
		if err != nil {
			return nothingChanged(err)
		}
		o.notes = notes
		return apply(target, cmd, docs, o)
	}
	return cmd
}

// read returns the documents of jobs, and what notes the versions that are made of them, by name.
func read(r *cli.Remote, cmd *cobra.Command, names []string) ([]manifest.Document, map[string]string, error) {
	api, err := r.API()
	if err != nil {
		return nil, nil, err
	}
	var text strings.Builder
	notes := map[string]string{}
	for _, arg := range names {
		name, err := job.ParseName(arg)
		if err != nil {
			return nil, nil, cli.Usage(err)
		}
		item, err := client.Read[client.JobItem](api.GetJob(cmd.Context(), name.Group(), name.Short(), nil))
		if err != nil {
			return nil, nil, err
		}
		j := item.Definition.Job
		j.Paused, j.PausedUntil = false, nil // what operators do here is not for there
		f, err := exported{arg, j}.file(jobsKind)
		if err != nil {
			return nil, nil, err
		}
		text.WriteString("---\n")
		text.Write(f.text)
		notes[arg] = fmt.Sprintf("promoted from version %d at %s", item.Definition.Version, r.Address())
	}
	docs, err := manifest.Read([]string{"-"}, strings.NewReader(text.String()))
	return docs, notes, err
}
