package main

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carillon/internal/client"
)

func newDiagnosticsCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "diagnostics",
		Short: "Write what a maintainer asks for when something is wrong to a file",
		Long: "Write a ZIP file for a report of a bug: version and settings of the server that answers, nodes with their\n" +
			"shards, executor groups, streams and consumers, how the log store is, metrics, and, if the server was\n" +
			"started with --pprof, the stacks of its goroutines. It is for administrators.\n\n" +
			"There are no secrets in it, no documents of jobs, no parameters and no lines of logs; there are names of\n" +
			"groups, nodes, hosts and handlers. What cannot be had is told in a file beside.",
		Example: "  carillon diagnostics\n  carillon diagnostics --out report.zip",
		Args:    cobra.NoArgs,
	}
	r := newRemote(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not be there yet; - for standard output (default: in this folder, by the server's name for it)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		api, err := r.api()
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
				return errors.New("the server has no name for the file; say one with --out")
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

// inAddress finds who signs in, and what is asked for, in addresses.
var inAddress = regexp.MustCompile(`(://)[^\s]*@|\?[^\s,]*`)

// settingsOf returns the flags of a command by their names, without what is secret: of
// addresses the users, the passwords and what follows a question mark.
func settingsOf(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help":
		case slices.Contains(secretFlags, f.Name) && f.Value.String() != "":
			all[f.Name] = "(a file)"
		default:
			all[f.Name] = inAddress.ReplaceAllStringFunc(f.Value.String(), func(found string) string {
				if found[0] == '?' {
					return "?…"
				}
				return "://…@"
			})
		}
	})
	return all
}
