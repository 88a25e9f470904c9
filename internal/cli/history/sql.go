package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// tableRows is the most rows of an answer that are shown as a table.
const tableRows = 1000

func newSQLCommand() *cobra.Command {
	var file, shape string
	var timeout time.Duration
	var maxRows int
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "Query the history with SQL",
		Long: "Run a SELECT on the history. It requires ClickHouse as the log store, and an administrator or the\n" +
			"grants sql, logs and params for all groups, because a query can read everything in the store.\n" +
			"docs/reference/reports.md lists the tables and views. An interrupted query stops on the server\n" +
			"too. A table ends after 1000 rows; --format streams up to --max-rows.",
		Example: "  carillon sql \"SELECT job, count() FROM v_runs WHERE status = 'failed' GROUP BY job ORDER BY 2 DESC\"\n" +
			"  carillon sql -f month.sql --format csv --max-rows 1000000 > month.csv\n" +
			"  echo 'SELECT * FROM v_runs' | carillon sql -f - --format ndjson | jq .job",
		Args: cobra.MaximumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVarP(&file, "file", "f", "", "read the query from this `file`; - is standard input")
	cmd.Flags().StringVar(&shape, "format", "", "stream the result as csv, ndjson or json")
	cmd.Flags().Var(cli.Duration(&timeout, 30*time.Second), "timeout", "time limit of the query, at most 60s")
	cmd.Flags().IntVar(&maxRows, "max-rows", 10_000, "maximum number of `rows`, at most 1000000")
	cli.Complete(cmd, "format", "csv", "ndjson", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case (file == "") == (len(args) == 0):
			return cli.Usage(errors.New("give a query, or a file with --file"))
		case shape != "" && !slices.Contains([]string{"csv", "ndjson", "json"}, shape):
			return cli.Usage(errors.New("--format must be csv, ndjson or json"))
		case r.Output == cli.AsYAML:
			return cli.Usage(errors.New("-o yaml is not supported; use --format"))
		}
		query, err := queryOf(cmd.InOrStdin(), file, args)
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if shape == "" && r.Output == cli.AsJSON {
			shape = "json"
		}
		request := client.SQLRequest{Query: query, Format: client.SQLRequestFormat(shape), MaxRows: maxRows, Timeout: job.Duration(timeout)}
		if shape == "" {
			request.MaxRows, request.Format = min(maxRows, tableRows), "json"
		}
		resp, err := api.QuerySQL(cmd.Context(), request)
		if shape == "" || err != nil || resp.StatusCode != http.StatusOK {
			answer, err := client.Read[client.SQLAnswer](resp, err)
			if err != nil {
				return err
			}
			return drawAnswer(cmd.OutOrStdout(), &answer)
		}
		defer func() { _ = resp.Body.Close() }()
		if _, err := io.Copy(cmd.OutOrStdout(), resp.Body); err != nil {
			return fmt.Errorf("read the answer, which is incomplete: %w", err)
		}
		return nil
	}
	return cmd
}

func queryOf(in io.Reader, file string, args []string) (string, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return args[0], nil
	case "-":
		text, err = io.ReadAll(in)
	default:
		text, err = os.ReadFile(file) //nolint:gosec // the user's own
	}
	if err != nil {
		return "", cli.Usage(fmt.Errorf("read query: %w", err))
	}
	if !utf8.Valid(text) {
		return "", cli.Usage(errors.New("the query is not UTF-8"))
	}
	return string(text), nil
}

func drawAnswer(w io.Writer, a *client.SQLAnswer) error {
	var t draw.Table
	var names []string
	for _, c := range a.Columns {
		names = append(names, strings.ToUpper(c.Name))
	}
	t.Row(names...)
	for _, row := range a.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, t.Cell(answerText(v), 2*draw.NoteWidth))
		}
		t.Row(cells...)
	}
	if a.Truncated {
		t.Line(fmt.Sprintf("only the first %s are shown; use --format for more", draw.Count(len(a.Rows), "row")))
	}
	return t.Write(w)
}

func answerText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}
