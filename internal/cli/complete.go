package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// noun is a kind of things whose names the server knows: the word for it in usage lines, and the flag
// that takes one.
type noun struct {
	word, flag string
	names      func(context.Context, *client.API) ([]string, error)
}

var nouns = []noun{
	{"RUN", "", runIDs},
	{"GROUP", "group", func(ctx context.Context, api *client.API) (names []string, err error) {
		list, err := client.Read[client.GroupList](api.ListGroups(ctx))
		for _, g := range list.Items {
			names = append(names, g.ExecutorGroup)
		}
		return names, err
	}},
	{"INSTANCE", "instance", func(ctx context.Context, api *client.API) (names []string, err error) {
		list, err := client.Read[client.GroupList](api.ListGroups(ctx))
		for _, g := range list.Items {
			for _, i := range g.Instances {
				names = append(names, i.Instance)
			}
		}
		return names, err
	}},
	{"CALENDAR", "calendar", func(ctx context.Context, api *client.API) (names []string, err error) {
		list, err := client.Read[client.CalendarList](api.ListCalendars(ctx))
		for _, c := range list.Items {
			names = append(names, c.Definition.Calendar.Calendar)
		}
		return names, err
	}},
}

// completedRuns is how many runs are proposed, the newest.
const completedRuns = 50

func runIDs(ctx context.Context, api *client.API) (names []string, err error) {
	page, err := api.Runs(ctx, client.ListRunsParams{}, completedRuns)
	for _, r := range page.Items {
		names = append(names, string(r.RunID)+"\t"+string(r.Job)+" "+string(r.Status))
	}
	return names, err
}

// completeNouns has shells complete the arguments and flags of a command that asks a server, and of those
// below it, where they have no completion of their own.
func completeNouns(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		completeNouns(sub)
	}
	if cmd.Flags().Lookup("server") == nil {
		return
	}
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	first, _, _ := strings.Cut(arguments, " ")
	for _, n := range nouns {
		if cmd.ValidArgsFunction == nil && strings.Trim(first, "[].") == n.word {
			cmd.ValidArgsFunction = n.complete
		}
		if n.flag != "" && cmd.Flags().Lookup(n.flag) != nil {
			if _, has := cmd.GetFlagCompletionFunc(n.flag); !has {
				completeWith(cmd, n.flag, n.complete)
			}
		}
	}
}

func (n noun) complete(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	value := func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
	r := &Remote{
		named: value("context"), server: value("server"), token: value("token"), ca: value("ca"),
		say: func(string) {}, clock: func() draw.Clock { return ClockOf(cmd) },
	}
	return r.complete(cmd, typed, n.names)
}

// complete returns those of the names that begin with what was typed.
func (r *Remote) complete(cmd *cobra.Command, typed string, names func(context.Context, *client.API) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	api, err := r.API()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx := cmd.Context()
	if ctx == nil { // cobra gives completions none
		ctx = context.Background() //nolint:forbidigo // nobody has one
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	all, err := names(ctx, api)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
}
