package operator

import (
	"context"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/node"
)

func newNATSServeCommand() *cobra.Command {
	var file, level, format string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the built-in NATS server",
		Long: "Run the built-in NATS server with a nats-server configuration file, so you need not install\n" +
			"nats-server. SIGTERM stops it; SIGHUP reloads the file and the certificates, but not changed keys:\n" +
			"restart it for these. Without --config, run the server of \"carillon dev\", which listens on\n" +
			"loopback and admits every local client.",
		Example: "  carillon nats serve --config nats.conf",
		Args:    cli.NoArgs,
	}
	f := cmd.Flags()
	f.StringVarP(&file, "config", "c", "", "the configuration `file`, from \"carillon nats config\"")
	f.StringVar(&level, "log-level", "info", "log level: debug, info, warn or error")
	f.StringVar(&format, "log-format", "text", "log format: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log, err := node.NewLogger(cmd.ErrOrStderr(), level, format)
		if err != nil {
			return err
		}
		srv, err := embedded.Start(embedded.Config{ConfigFile: file, Logger: log})
		if err != nil {
			return err
		}
		log.Info("nats server listens", "component", "nats", "address", srv.ClientURL())
		again := make(chan os.Signal, 1)
		if hangup != nil {
			signal.Notify(again, hangup)
			defer signal.Stop(again)
		}
		ctx, stop := context.WithCancel(cmd.Context())
		defer stop()
		var g errgroup.Group
		g.Go(func() error {
			defer stop()
			return srv.Run(ctx)
		})
		g.Go(func() error { return reloadOn(ctx, again, srv, log) })
		return g.Wait()
	}
	return cmd
}

// reloadOn makes a NATS server reload its configuration at each signal, until ctx is
// done. If the new one is not valid, the old one stays in use.
func reloadOn(ctx context.Context, again <-chan os.Signal, srv *embedded.Server, log *slog.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
			if err := srv.Reload(); err != nil {
				log.ErrorContext(ctx, "configuration not reloaded", "component", "nats", "error", err)
				continue
			}
			log.InfoContext(ctx, "configuration reloaded", "component", "nats")
		}
	}
}
