package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func newDrainCommand() *cobra.Command {
	var within time.Duration
	cmd := newInstanceCommand(&cobra.Command{
		Use:   "drain INSTANCE...",
		Short: "Drain executor instances: finish their runs, then stop",
		Long: "Drain executor instances: they take no more runs, finish their active runs, and stop. With\n" +
			"--within, they stop after that time at the latest: remaining runs are cancelled and given back for\n" +
			"another instance, or recorded as lost if their delivery is at_most_once. Draining again sets a new\n" +
			"time limit. Name an instance as \"carillon get groups\" shows it, or as GROUP/INSTANCE if the name\n" +
			"is ambiguous. \"carillon uncordon\" undoes it.",
		Example: "  carillon drain web1-4711-k3x9qa\n  carillon drain web1-4711-k3x9qa --within 30m\n  carillon drain billing/web1-4711-k3x9qa billing/web2-815-q7h2mm",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		return client.Read[client.InstanceReply](api.DrainInstance(ctx, group, instance, fleet.DrainRequest{Within: job.Duration(within)}))
	})
	cmd.Flags().Var(cli.Duration(&within, 0), "within", "time limit for their runs, such as 30m, at most 7d (default: none)")
	return cmd
}

func newCordonCommand() *cobra.Command {
	return newInstanceCommand(&cobra.Command{
		Use:   "cordon INSTANCE...",
		Short: "Cordon executor instances",
		Long: "Cordon executor instances: they take no more runs and finish their active ones. They keep running,\n" +
			"until \"carillon uncordon\".",
		Example: "  carillon cordon web1-4711-k3x9qa",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		return client.Read[client.InstanceReply](api.CordonInstance(ctx, group, instance))
	})
}

func newUncordonCommand() *cobra.Command {
	return newInstanceCommand(&cobra.Command{
		Use:     "uncordon INSTANCE...",
		Short:   "Uncordon executor instances",
		Long:    "Uncordon cordoned or draining executor instances: they take runs again.",
		Example: "  carillon uncordon web1-4711-k3x9qa",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		return client.Read[client.InstanceReply](api.UncordonInstance(ctx, group, instance))
	})
}

func newSetCommand() *cobra.Command {
	var slots int
	var labels []string
	var noLabels bool
	cmd := newInstanceCommand(&cobra.Command{
		Use:   "set INSTANCE... [--slots N] [--label KEY=VALUE...]",
		Short: "Change slots or labels of executor instances",
		Long: "Change the number of slots (concurrent runs) of executor instances, or replace their labels. The\n" +
			"change lasts until the instance stops.",
		Example: "  carillon set web1-4711-k3x9qa --slots 4\n  carillon set web1-4711-k3x9qa --label zone=eu --label gpu=true",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		settings := client.InstanceSettings{Slots: slots}
		if len(labels) > 0 || noLabels {
			all, err := job.ParseLabels(labels)
			if err != nil {
				return client.InstanceReply{}, cli.Usage(err)
			}
			if all == nil {
				all = job.Labels{} // null would leave them as they are
			}
			settings.Labels = &all
		}
		return client.Read[client.InstanceReply](api.SetInstance(ctx, group, instance, settings))
	})
	cmd.Flags().IntVar(&slots, "slots", 0, "number of concurrent runs")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a `label`, KEY=VALUE; can be repeated")
	cmd.Flags().BoolVar(&noLabels, "no-labels", false, "remove all labels")
	cmd.MarkFlagsMutuallyExclusive("label", "no-labels")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.Flags().Changed("slots") && slots < 1:
			return cli.Usage(fmt.Errorf("--slots %d must be at least 1; to take no more runs, use \"carillon cordon\"", slots))
		case slots == 0 && len(labels) == 0 && !noLabels:
			return cli.Usage(errors.New("set --slots, --label or --no-labels"))
		}
		return run(cmd, args)
	}
	return cmd
}

// newInstanceCommand makes cmd tell something to each of the instances that its
// arguments name.
func newInstanceCommand(cmd *cobra.Command, tell func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error)) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		replies := []client.InstanceReply{}
		err = cli.Each(args, func(arg string) error {
			group, instance, err := findInstance(cmd.Context(), api, arg)
			if err != nil {
				return err
			}
			reply, err := tell(cmd.Context(), api, group, instance)
			if err == nil {
				replies = append(replies, reply)
			}
			return err
		})
		return errors.Join(r.Show(cmd.OutOrStdout(), replies, func(t *draw.Table) {
			for _, i := range replies {
				text := fmt.Sprintf("instance %s is %s, with %d of %d slots in use", i.Instance, i.State, i.Running, i.Slots)
				if !i.DrainBy.IsZero() {
					text += ", stops by " + t.Instant(i.DrainBy)
				}
				if i.Detail != "" {
					text += "; " + i.Detail
				}
				t.Line(text)
			}
		}), err)
	}
	return cmd
}

// findInstance returns the group and the name of the instance that an argument means.
// One that names its group is taken as it is.
func findInstance(ctx context.Context, api *client.API, arg string) (group, instance string, err error) {
	if group, instance, ok := strings.Cut(arg, "/"); ok {
		return group, instance, cli.Usage(errors.Join(job.CheckSlug("group", group), job.CheckSlug("instance", instance)))
	}
	if err := job.CheckSlug("instance", arg); err != nil {
		return "", "", cli.Usage(err)
	}
	groups, err := client.Read[client.GroupList](api.ListGroups(ctx))
	if err != nil {
		return "", "", err
	}
	var found []string
	for _, g := range groups.Items {
		for _, i := range g.Instances {
			if i.Instance == arg && i.State != fleet.InstanceLost {
				found = append(found, g.ExecutorGroup)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", "", fmt.Errorf("%w: no group has a live instance %s", job.ErrNotFound, arg)
	case 1:
		return found[0], arg, nil
	}
	return "", "", cli.Usage(fmt.Errorf("several groups have an instance %s; use %s/%s, or one of the groups %s", arg, found[0], arg, strings.Join(found[1:], ", ")))
}
