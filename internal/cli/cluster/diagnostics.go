package cluster

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newDiagnosticsCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "diagnostics",
		Short: "Create a diagnostics bundle",
		Long: "Create a ZIP file for a bug report: version and settings of the server, nodes with their shards,\n" +
			"executor groups, streams and consumers, the state of the log store, and metrics. If the server\n" +
			"runs with --pprof, the bundle has goroutine stacks too. Only administrators can create it.\n\n" +
			"The bundle has no secrets, job documents, parameters or log lines. It has the names of groups,\n" +
			"nodes, hosts and handlers. A separate file lists the parts that could not be collected.",
		Example: "  carillon diagnostics\n  carillon diagnostics --out report.zip",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not exist; - for standard output (default: a name from the server, in this folder)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		api, err := r.API()
		if err != nil {
			return err
		}
		resp, err := api.CollectDiagnostics(cmd.Context())
		if err != nil || resp.StatusCode != http.StatusOK {
			_, err := client.Read[client.None](resp, err)
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if out == "-" {
			_, err := io.Copy(cmd.OutOrStdout(), resp.Body)
			return err
		}
		if out == "" {
			_, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
			if out = filepath.Base(params["filename"]); filepath.Ext(out) != ".zip" {
				return errors.New("the server did not name the file; set a name with --out")
			}
		}
		f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the file that the person names
		if err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
		n, err := io.Copy(f, resp.Body)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
		cmd.Printf("%s written, %d bytes\n", out, n)
		return nil
	}
	return cmd
}
