package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// exportOptions are the flags of export.
type exportOptions struct {
	group, dir string
}

func newExportCommand() *cobra.Command {
	var o exportOptions
	kinds := slices.Sorted(maps.Keys(exports))
	cmd := &cobra.Command{
		Use:   "export [KIND...]",
		Short: "Write jobs, calendars, channels and alert rules as files for apply",
		Long: "Write jobs, calendars, notification channels and alert rules as YAML documents that \"carillon\n" +
			"apply\" reads. KIND is " + strings.Join(kinds, ", ") + "; without one, all kinds are written.\n\n" +
			"--dir writes a file for each document: jobs/GROUP/NAME.yaml, calendars/NAME.yaml, channels/NAME.yaml\n" +
			"and alerts/NAME.yaml. It replaces files of the same names, and leaves others alone.\n\n" +
			"Secrets are not in the documents, only their names. A job that has values hidden from you is\n" +
			"refused, and nothing is written.",
		Example: "  carillon export > all.yaml\n" +
			"  carillon export jobs --group billing --dir .\n" +
			"  carillon export --server https://old.example.org | carillon apply -f - --dry-run",
		ValidArgs: kinds,
		Args:      cobra.OnlyValidArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVarP(&o.group, "group", "g", "", "only the jobs of this `group`")
	cmd.Flags().StringVar(&o.dir, "dir", "", "write a file for each document below this `folder`")
	cmd.RunE = func(cmd *cobra.Command, wanted []string) error {
		switch {
		case o.group != "" && len(wanted) == 0:
			wanted = []string{jobsKind}
		case o.group != "" && (len(wanted) != 1 || wanted[0] != jobsKind):
			return cli.Usage(errors.New("--group is for jobs only"))
		case len(wanted) == 0:
			wanted = kinds
		}
		return export(r, cmd, wanted, o)
	}
	return cmd
}

// exported is a document that export writes.
type exported struct {
	name string // "group/name" of a job
	body any
}

// jobsKind is the kind of documents that belong to groups.
const jobsKind = "jobs"

// exports returns the documents of each kind, which is the name of their folder, too.
var exports = map[string]func(ctx context.Context, api *client.API, group string) ([]exported, error){
	"alerts": func(ctx context.Context, api *client.API, _ string) ([]exported, error) {
		list, err := client.Read[client.AlertList](api.ListAlerts(ctx))
		return documentsIn(list.Items, func(i client.AlertItem) exported { return exported{i.Definition.Alert, i.Definition} }), err
	},
	"calendars": func(ctx context.Context, api *client.API, _ string) ([]exported, error) {
		list, err := client.Read[client.CalendarList](api.ListCalendars(ctx))
		return documentsIn(list.Items, func(i client.CalendarItem) exported {
			return exported{i.Definition.Calendar.Calendar, i.Definition.Calendar}
		}), err
	},
	"channels": func(ctx context.Context, api *client.API, _ string) ([]exported, error) {
		list, err := client.Read[client.ChannelList](api.ListChannels(ctx))
		return documentsIn(list.Items, func(i client.ChannelItem) exported { return exported{i.Definition.Channel, i.Definition} }), err
	},
	jobsKind: func(ctx context.Context, api *client.API, group string) ([]exported, error) {
		params := client.ListJobsParams{Fires: new(0), Runs: new(0)}
		if group != "" {
			params.Group = &group
		}
		page, err := api.Jobs(ctx, params, 0)
		return documentsIn(page.Items, func(i client.JobItem) exported {
			return exported{string(i.Definition.Job.Job), i.Definition.Job}
		}), err
	},
}

// documentsIn returns the documents of items, in the order of their names.
func documentsIn[I any](items []I, document func(I) exported) []exported {
	all := make([]exported, len(items))
	for i, item := range items {
		all[i] = document(item)
	}
	slices.SortFunc(all, func(a, b exported) int { return strings.Compare(a.name, b.name) })
	return all
}

// export writes the documents of some kinds. It asks for all of them before it writes the first.
func export(r *cli.Remote, cmd *cobra.Command, kinds []string, o exportOptions) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	var files []exportedFile
	for _, kind := range kinds {
		docs, err := exports[kind](cmd.Context(), api, o.group)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		for _, d := range docs {
			f, err := d.file(kind)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
	}
	if o.dir == "" {
		return writeDocuments(cmd.OutOrStdout(), files)
	}
	if err := writeFiles(o.dir, files); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s written below %s\n", draw.Count(len(files), "file"), o.dir)
	return err
}

// exportedFile is the text of a document, and where it goes below a folder.
type exportedFile struct {
	path string // below the folder
	text []byte
}

func (d exported) file(kind string) (exportedFile, error) {
	data, err := json.Marshal(d.body)
	if err != nil {
		return exportedFile{}, fmt.Errorf("encode %s %s: %w", kind, d.name, err)
	}
	if kind == jobsKind && hidden.Match(data) {
		return exportedFile{}, fmt.Errorf("job %s has values that are hidden from you; a user with the rights params, scripts and secrets in its group can export it. Nothing was written", d.name)
	}
	var text bytes.Buffer
	err = draw.WriteYAML(&text, data)
	return exportedFile{filepath.Join(kind, filepath.FromSlash(d.name)+".yaml"), text.Bytes()}, err
}

// hidden matches what the server puts in the place of values, see Right in openapi.yaml.
var hidden = regexp.MustCompile(`"\(hidden\)"|"https://hidden\.invalid"`)

// writeFiles writes each document to its file, and none outside the folder, whatever a server calls it.
func writeFiles(dir string, files []exportedFile) error {
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // as an editor would, by the umask
		return fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if err := root.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
			return fmt.Errorf("make the folder of a document: %w", err)
		}
		if err := root.WriteFile(f.path, f.text, 0o666); err != nil {
			return fmt.Errorf("write a document: %w", err)
		}
	}
	return nil
}

// writeDocuments writes all documents one after the other.
func writeDocuments(w io.Writer, files []exportedFile) error {
	for i, f := range files {
		if i > 0 {
			f.text = append([]byte("---\n"), f.text...)
		}
		if _, err := w.Write(f.text); err != nil {
			return fmt.Errorf("write a document: %w", err)
		}
	}
	return nil
}
