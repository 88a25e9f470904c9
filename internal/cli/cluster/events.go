package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// eventTopics are what one can hear of.
var eventTopics = []string{"jobs", "runs", "executors", "cluster", "alerts"}

func newEventsCommand() *cobra.Command {
	var topics []string
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Stream change events as JSON lines",
		Long: "Stream change events as JSON lines until interrupted. An event names the jobs, runs or groups that\n" +
			"changed, not the change itself. \"reload\" means that too much changed to list.",
		Example: "  carillon events\n  carillon events --topic runs,alerts | while read -r line; do …; done",
		Args:    cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringSliceVar(&topics, "topic", nil, "only this `topic`; can be repeated: "+strings.Join(eventTopics, ", "))
	cli.Complete(cmd, "topic", eventTopics...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, t := range topics {
			if !slices.Contains(eventTopics, t) {
				return cli.Usage(fmt.Errorf("--topic %q must be one of %s", t, strings.Join(eventTopics, ", ")))
			}
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		out := json.NewEncoder(cmd.OutOrStdout())
		return api.Follow(cmd.Context(), topics, func(err error) { cmd.PrintErrf("carillon: %v; trying again\n", err) },
			func(n client.News) error { return out.Encode(n) })
	}
	return cmd
}
