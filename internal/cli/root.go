package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
)

// Execute runs a command line and returns its exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, in io.Reader, out, errOut io.Writer) int {
	root.SetArgs(args)
	root.SetIn(in)
	out, errOut = draw.ForPeople(out), draw.ForPeople(errOut)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	report(errOut, cmd, err)
	return exitCodeOf(err)
}

// NewRoot returns the command that the others belong to.
func NewRoot(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "carillon",
		Short: "Distributed job scheduler that can prove that every job fired",
		Long: "Carillon schedules jobs across machines. For each fire of a schedule, it records the run\n" +
			"or the reason why there was none.\n\n" + exitCodesHelp,
		Example: "  carillon dev                                  # everything in one process\n" +
			"  carillon apply -f examples/jobs               # save jobs\n" +
			"  carillon import crontab examples/crontab      # or import them\n" +
			"  carillon get jobs\n" +
			"  carillon run default/disk-usage --wait\n" +
			"  carillon logs default/slow-count -f",
		Version:       build.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("carillon {{.Version}}\n")
	root.AddCommand(commands...)
	markUsage(root)
	completeNouns(root)
	return root
}

// markUsage has every mistake in a command line end in ExitUsage.
func markUsage(cmd *cobra.Command) {
	wrong := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(wrong(cmd, err)) })
	check := cmd.Args
	if cmd.HasSubCommands() && cmd.Run == nil && cmd.RunE == nil {
		check = oneOfItsCommands
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return Usage(check(cmd, args)) }
	}
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		// cobra does the same next, and calls what it finds no usage error.
		return Usage(errors.Join(checkTexts(cmd), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()))
	}
	for _, sub := range cmd.Commands() {
		markUsage(sub)
	}
}

// checkTexts refuses flags that are not UTF-8: in a request they would be other characters. Names of files
// may be any bytes.
func checkTexts(cmd *cobra.Command) error {
	if cmd.Flags().Lookup("server") == nil {
		return nil // it asks no server
	}
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		of, _ := pflag.UnquoteUsage(f)
		switch strings.ToLower(of) {
		case "file", "directory", "folder":
			return
		}
		if !utf8.ValidString(f.Value.String()) {
			errs = append(errs, fmt.Errorf("--%s is not UTF-8", f.Name))
		}
	})
	return errors.Join(errs...)
}

func oneOfItsCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("unknown command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return fmt.Errorf("%s", text)
}

// DefaultServer is where "carillon dev" listens.
const DefaultServer = "http://127.0.0.1:8822"

// The variables that stand for the flags of the connection to a server.
const (
	serverVariable = "CARILLON_SERVER"
	// contextVariable names a context of "carillon login".
	contextVariable = "CARILLON_CONTEXT"
	TokenVariable   = "CARILLON_TOKEN"
	CAVariable      = "CARILLON_CA"
)

// ServerFromEnvironment returns the server that the environment names, or else DefaultServer.
func ServerFromEnvironment() string {
	if s := os.Getenv(serverVariable); s != "" {
		return s
	}
	return DefaultServer
}
