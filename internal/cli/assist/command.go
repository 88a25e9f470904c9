package assist

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/assistant"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Commands returns the commands for assistants.
func Commands() []*cobra.Command { return []*cobra.Command{newMCPCommand()} }

func newMCPCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Answer an assistant's questions about jobs and runs (Model Context Protocol)",
		Long: "Serve the Model Context Protocol on standard input and output, for an assistant that starts this\n" +
			"command: why a job did not run, what a run did, what its log says, what is due. The assistant\n" +
			"sees what the token of the context may see. With --write, and a token with the grant assist, it can\n" +
			"run, rerun, pause, resume and acknowledge, each after a confirmation.",
		Example: "  carillon mcp --context production\n  claude mcp add carillon -- carillon mcp --context production",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	var write bool
	cmd.Flags().BoolVar(&write, "write", false, "offer tools that change things, to a token with the grant assist")
	for _, of := range []string{"output", "utc"} {
		if err := cmd.Flags().MarkHidden(of); err != nil { // an assistant reads JSON, and instants in UTC
			panic("BUG: " + err.Error())
		}
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
		return serve(cmd.Context(), api, write, log, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	return cmd
}

// serve answers until the client has closed its end.
func serve(ctx context.Context, api *client.API, write bool, log *slog.Logger, in io.Reader, out io.Writer) error {
	api.Notice(nil) // standard error is for the log
	access, err := accessOf(ctx, api, log)
	if err != nil {
		return err
	}
	cfg := assistant.Config{API: api, Access: access, Logger: log}
	if write {
		cfg.Writes = &assistant.Writes{Codes: assistant.NewCodes()}
		if !access.MaySomewhereWith(rights.Operator, rights.Assist) {
			log.WarnContext(ctx, "nothing can be changed: the caller has no group with the role operator and the grant assist")
		}
	}
	s := assistant.New(cfg)
	err = s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: assistant.MaxRequest})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// accessTime is how long the server is asked what the caller may do. Meanwhile the assistant waits.
const accessTime = 5 * time.Second

// accessOf returns what the caller may do. If the server does not answer, that is everything: it refuses later
// what the caller may not. The error is [client.ErrDenied] if it refuses the token.
func accessOf(ctx context.Context, api *client.API, log *slog.Logger) (rights.List, error) {
	limited, cancel := context.WithTimeout(ctx, accessTime)
	defer cancel()
	me, err := client.Read[client.Me](api.GetMe(limited))
	switch {
	case errors.Is(err, client.ErrDenied):
		return nil, err
	case err != nil:
		log.WarnContext(ctx, "permissions unknown; all tools are listed", "error", err)
		return rights.List{{Role: rights.Admin, Group: rights.Everywhere}}.WithDefaults(), nil
	}
	return me.Access, nil
}

// unclosed stays open, as standard output does.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
