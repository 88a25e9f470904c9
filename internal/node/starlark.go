package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/runner/request"
	"github.com/carillon-scheduler/carillon/runner/star"
)

func newStarlarkCommand() *cobra.Command {
	var allow []string
	var noHTTP bool
	var megabytes int
	cmd := &cobra.Command{
		Use:   "starlark FILE [PARAMS [INDEX TOTAL]]",
		Short: "Run a Starlark script as an executor does",
		Long: "Run a Starlark script as an executor does; executors start this command for starlark script tasks.\n" +
			"The script can read its parameters, the run and the environment of this process, and can send HTTP\n" +
			"requests. It cannot read files or start programs. Its result is written to the file in\n" +
			"CARILLON_RESULT_FILE, or printed.",
		Example: "  carillon starlark examples/scripts/watch-releases.star '{\"golang/go\": \"go1.25\"}'",
		Args:    cobra.RangeArgs(1, 4),
	}
	f := cmd.Flags()
	f.StringSliceVar(&allow, "http-allow", nil, "private `hosts`, addresses and networks that the script can call")
	f.BoolVar(&noHTTP, "no-http", false, "refuse HTTP requests")
	f.IntVar(&megabytes, "memory", 256, "memory limit of the script in `megabytes`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := starlarkScript(args)
		if err != nil {
			return err
		}
		s.Output = cmd.OutOrStdout()
		if !noHTTP {
			if s.Client, err = request.NewClient(allow); err != nil {
				return err
			}
		}
		return runStarlark(cmd, s, megabytes)
	}
	return cmd
}

// starlarkScript reads what to run. The environment knows better than the arguments: in
// those, parameters that are text have no quotes.
func starlarkScript(args []string) (star.Script, error) {
	source, err := os.ReadFile(args[0])
	if err != nil {
		return star.Script{}, err
	}
	s := star.Script{File: args[0], Source: source, Env: map[string]string{}}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		s.Env[name] = value
	}
	for i, name := range []string{"CARILLON_PARAMS", "CARILLON_BROADCAST_INDEX", "CARILLON_BROADCAST_TOTAL"} {
		if _, known := s.Env[name]; !known && len(args) > i+1 {
			s.Env[name] = args[i+1]
		}
	}
	s.Params = json.RawMessage(s.Env["CARILLON_PARAMS"])
	if len(s.Params) > 0 && !json.Valid(s.Params) {
		if s.Params, err = json.Marshal(string(s.Params)); err != nil {
			return s, fmt.Errorf("encode params: %w", err)
		}
	}
	return s, nil
}

// maxStack is how many bytes of stack a script may use. Go's own limit is far above it,
// and would end the process without a reason that people understand.
const maxStack = 64 << 20

// runStarlark runs s, and ends the process when it takes too much memory or nests too
// deeply: the language has no bound of its own.
func runStarlark(cmd *cobra.Command, s star.Script, megabytes int) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	go func() {
		if why := exceeds(ctx, megabytes); why != "" {
			cmd.PrintErrln(why)
			os.Exit(cli.ExitError)
		}
	}()
	result, err := star.Run(ctx, s)
	switch {
	case err != nil:
		return err
	case result == nil:
		return nil
	}
	if file := s.Env["CARILLON_RESULT_FILE"]; file != "" {
		return os.WriteFile(file, result, 0o600)
	}
	cmd.Println(string(result))
	return nil
}

// exceeds returns the limit that the process has exceeded, and nothing when ctx is done.
func exceeds(ctx context.Context, megabytes int) string {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case <-tick.C:
			metrics.Read(samples)
			switch {
			case samples[1].Value.Uint64() > maxStack:
				return "the script nests too deeply"
			case samples[0].Value.Uint64() > uint64(max(megabytes, 1))<<20:
				return fmt.Sprintf("the script used more than %d MB of memory", megabytes)
			}
		}
	}
}
