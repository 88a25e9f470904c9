package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
	"carillon/job/fleet"
)

func newDrainCommand() *cobra.Command {
	var within time.Duration
	cmd := newInstanceCommand(&cobra.Command{
		Use:   "drain INSTANCE...",
		Short: "Have executor instances finish what they have, and leave",
		Long: "Have executor instances take no more runs, finish those that they have, however long\n" +
			"that takes, and end. With --within they end after that time at the latest: what still runs\n" +
			"is cancelled and given back, so that another instance does it anew, or, of jobs with\n" +
			"delivery at_most_once, recorded as lost. To drain again sets the time anew. An instance is named as \"carillon get groups\" shows it, or as\n" +
			"GROUP/INSTANCE where the name alone is not enough. \"carillon uncordon\" has it stay after all.",
		Example: "  carillon drain web1-4711-k3x9qa\n  carillon drain web1-4711-k3x9qa --within 30m\n  carillon drain billing/web1-4711-k3x9qa billing/web2-815-q7h2mm",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		return client.Read[client.InstanceReply](api.DrainInstance(ctx, group, instance, fleet.DrainRequest{Within: job.Duration(within)}))
	})
	cmd.Flags().Var(durationFlag{&within, 0}, "within", "how long their runs may take, as in 30m, 7d at most (default: as long as they need)")
	return cmd
}

func newCordonCommand() *cobra.Command {
	return newInstanceCommand(&cobra.Command{
		Use:   "cordon INSTANCE...",
		Short: "Have executor instances take no more runs, and stay",
		Long: "Have executor instances take no more runs. What they have goes on, and they stay, until\n" +
			"\"carillon uncordon\" or until they end.",
		Example: "  carillon cordon web1-4711-k3x9qa",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		return client.Read[client.InstanceReply](api.CordonInstance(ctx, group, instance))
	})
}

func newUncordonCommand() *cobra.Command {
	return newInstanceCommand(&cobra.Command{
		Use:     "uncordon INSTANCE...",
		Short:   "Have executor instances take runs again",
		Long:    "Have executor instances take runs again that were cordoned, or that are draining.",
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
		Long: "Change how many runs executor instances do at once, or their labels: all of them are\n" +
			"replaced by those given. It holds until the instance ends.",
		Example: "  carillon set web1-4711-k3x9qa --slots 4\n  carillon set web1-4711-k3x9qa --label zone=eu --label gpu=true",
	}, func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error) {
		settings := client.InstanceSettings{Slots: slots}
		if len(labels) > 0 || noLabels {
			all, err := job.ParseLabels(labels)
			if err != nil {
				return client.InstanceReply{}, usage(err)
			}
			if all == nil {
				all = job.Labels{} // null would leave them as they are
			}
			settings.Labels = &all
		}
		return client.Read[client.InstanceReply](api.SetInstance(ctx, group, instance, settings))
	})
	cmd.Flags().IntVar(&slots, "slots", 0, "how many runs at once")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a `label`, KEY=VALUE; may be repeated")
	cmd.Flags().BoolVar(&noLabels, "no-labels", false, "take all labels away")
	cmd.MarkFlagsMutuallyExclusive("label", "no-labels")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.Flags().Changed("slots") && slots < 1:
			return usage(fmt.Errorf("--slots %d must be at least 1; \"carillon cordon\" has an instance take no more runs", slots))
		case slots == 0 && len(labels) == 0 && !noLabels:
			return usage(errors.New("want --slots, --label or --no-labels"))
		}
		return run(cmd, args)
	}
	return cmd
}

// newInstanceCommand makes cmd tell something to each of the instances that its
// arguments name.
func newInstanceCommand(cmd *cobra.Command, tell func(ctx context.Context, api *client.API, group, instance string) (client.InstanceReply, error)) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	r := newRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		replies := []client.InstanceReply{}
		err = eachOf(args, func(arg string) error {
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
		return errors.Join(r.output.show(cmd.OutOrStdout(), replies, func(t *table) {
			for _, i := range replies {
				text := fmt.Sprintf("instance %s is %s, with %d of %d slots in use", i.Instance, i.State, i.Running, i.Slots)
				if !i.DrainBy.IsZero() {
					text += ", and ends by " + instant(i.DrainBy)
				}
				if i.Detail != "" {
					text += "; " + i.Detail
				}
				t.line(text)
			}
		}), err)
	}
	return cmd
}

// findInstance returns the group and the name of the instance that an argument means.
// One that names its group is taken as it is.
func findInstance(ctx context.Context, api *client.API, arg string) (group, instance string, err error) {
	if group, instance, ok := strings.Cut(arg, "/"); ok {
		return group, instance, usage(errors.Join(job.CheckSlug("group", group), job.CheckSlug("instance", instance)))
	}
	if err := job.CheckSlug("instance", arg); err != nil {
		return "", "", usage(err)
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
	return "", "", usage(fmt.Errorf("several groups have an instance %s: name it as %s/%s, or with one of the groups %s", arg, found[0], arg, strings.Join(found[1:], ", ")))
}
