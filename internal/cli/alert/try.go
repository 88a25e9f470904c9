package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/manifest"
)

func newAlertTryCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "try RULE | try -f FILE",
		Short: "Test a rule against the runs of the last seven days",
		Long: "Test an alert rule against the runs of the last seven days and show the incidents it would have\n" +
			"opened. The rule is a saved one, or one from a file (- for standard input). Nothing is saved or\n" +
			"sent.",
		Example: "  carillon alert try nightly\n" +
			"  printf 'alert: nightly\\nwhen: {in_a_row: 3}\\nchannels: []\\n' | carillon alert try -f -",
		Args: cobra.MaximumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVarP(&file, "file", "f", "", "read the rule from this `FILE`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (file == "") == (len(args) == 0) {
			return cli.Usage(errors.New("name either a rule or a file with --file"))
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		var trial client.AlertTrial
		if file == "" {
			trial, err = trySaved(cmd.Context(), api, args[0])
		} else {
			trial, err = tryFile(cmd, api, file)
		}
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), trial, func(t *draw.Table) { drawTrial(t, &trial, time.Now()) })
	}
	return cmd
}

func trySaved(ctx context.Context, api *client.API, name string) (client.AlertTrial, error) {
	item, err := client.Read[client.AlertItem](api.GetAlert(ctx, name))
	if err != nil {
		return client.AlertTrial{}, err
	}
	return client.Read[client.AlertTrial](api.TryAlert(ctx, item.Definition))
}

func tryFile(cmd *cobra.Command, api *client.API, file string) (client.AlertTrial, error) {
	docs, err := manifest.Read([]string{file}, cmd.InOrStdin())
	if err != nil {
		return client.AlertTrial{}, err
	}
	if len(docs) != 1 || docs[0].Kind != manifest.Alert {
		return client.AlertTrial{}, cli.Usage(fmt.Errorf("%s must contain exactly one alert rule", file))
	}
	return client.Read[client.AlertTrial](api.TryAlertWithBody(cmd.Context(), "application/json", bytes.NewReader(docs[0].JSON)))
}

func drawTrial(t *draw.Table, trial *client.AlertTrial, now time.Time) {
	if len(trial.Items) > 0 {
		t.Row("SINCE", "FOR", "TIMES", "SUBJECT", "SUMMARY")
	}
	for i := range trial.Items {
		item := &trial.Items[i]
		until, lasts := item.ResolvedAt, ""
		if until.IsZero() {
			until, lasts = now, ", open"
		}
		t.Row(t.Instant(item.OpenedAt), draw.Took(item.OpenedAt, until)+lasts, strconv.Itoa(item.Count), item.Subject, t.Cell(item.Summary, draw.NoteWidth))
	}
	t.Line(fmt.Sprintf("%s in %s since %s", draw.Count(trial.Total, "incident"), draw.Count(trial.Runs, "run"), t.Instant(trial.From)))
}
