package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// Remote is what the commands that ask a server share: the flags that say which
// server, and how to show its answers.
type Remote struct {
	named  string // the context, if not the current one
	server string
	token  string
	ca     string
	Output Format
	say    func(text string) // to whoever typed the command
	clock  func() draw.Clock
	// inContext says that only the context counts, whatever flags and environment say.
	inContext bool
}

// NewRemote adds the shared flags to cmd.
func NewRemote(cmd *cobra.Command) *Remote {
	r := &Remote{Output: AsTable, say: func(text string) { cmd.PrintErrln(text) }, clock: func() draw.Clock { return ClockOf(cmd) }}
	cmd.Flags().StringVar(&r.named, "context", "", "`name` of a context of \"carillon login\", also from "+contextVariable+" (default: the current one)")
	cmd.Flags().StringVar(&r.server, "server", "", "`address` of the server, also from "+serverVariable+" (default: the current context, else "+DefaultServer+")")
	cmd.Flags().StringVar(&r.token, "token", "", "API `token`, also from "+TokenVariable+" (default: that of \"carillon login\")")
	cmd.MarkFlagsMutuallyExclusive("context", "server")
	completeWith(cmd, "context", contextNames)
	CAFlag(cmd, &r.ca)
	cmd.Flags().VarP(&r.Output, "output", "o", "`format` of the answer: table, wide, name, json or yaml")
	Complete(cmd, "output", formatNames...)
	UTCFlag(cmd)
	return r
}

// ContextFlag adds a flag with the name of a context to cmd.
func (r *Remote) ContextFlag(cmd *cobra.Command, to *string, name, usage string) {
	cmd.Flags().StringVar(to, name, "", usage)
	completeWith(cmd, name, contextNames)
}

// In returns the server of a context, with what else r has. The error is one of usage if there is no such context,
// or if it is that of the same server.
func (r *Remote) In(named string) (*Remote, error) {
	there := &Remote{named: named, Output: r.Output, say: r.say, clock: r.clock, inContext: true}
	server, _, _, err := there.where()
	if err != nil {
		return nil, err
	}
	if sameServer(server, r.Address()) {
		return nil, Usage(fmt.Errorf("context %q is of the same server, %s", named, server))
	}
	return there, nil
}

// Address returns the address of the server, "" if none can be found.
func (r *Remote) Address() string {
	server, _, _, _ := r.where()
	return server
}

// Clock returns the clock by which the command shows instants.
func (r *Remote) Clock() draw.Clock { return r.clock() }

// Show writes an answer in the format that was asked for, see [Format.Show].
func (r *Remote) Show(w io.Writer, v any, fill func(*draw.Table)) error {
	return r.Output.Show(w, r.clock(), v, fill)
}

// CAFlag adds the flag for who has signed a server's certificate.
func CAFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "ca", "", "CA `file` of the server certificate, also from "+CAVariable+" (default: that of \"carillon login\", else those of the system)")
}

// Complete makes a flag's values known to shells.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	completeWith(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeWith(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic("BUG: complete a flag that is not there: " + err.Error())
	}
}

// contextNames completes the name of a context.
func contextNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := ReadContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, c := range all.Items {
		names = append(names, c.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// API returns the server's API.
func (r *Remote) API() (*client.API, error) {
	server, token, ca, err := r.where()
	if err != nil {
		return nil, err
	}
	api, err := Dial(server, UserName(), ca)
	if err != nil {
		return nil, err
	}
	api.Authorize(token)
	api.Notice(func(since, asOf time.Time) {
		if since.IsZero() {
			r.say("The log store is behind: data after " + r.clock().Instant(asOf) + " may be missing.")
		} else {
			r.say("The log store is away. The data below comes from the streams, which start at " + r.clock().Instant(since) + ".")
		}
	})
	return api, nil
}

// where returns the address of the server, the token for it, and the file of its authority. What
// flags say counts before what the environment says, and that before the context.
func (r *Remote) where() (server, token, ca string, err error) {
	if r.inContext {
		return r.ofContext()
	}
	server = r.server
	if r.named == "" { // a context that is named on the command line counts more than the environment
		server = cmp.Or(server, os.Getenv(serverVariable))
	}
	token = cmp.Or(r.token, os.Getenv(TokenVariable))
	ca = cmp.Or(r.ca, os.Getenv(CAVariable))
	if server != "" && token != "" && ca != "" {
		return server, token, ca, nil
	}
	all, err := ReadContexts()
	if err != nil {
		return "", "", "", err
	}
	if server == "" {
		named := cmp.Or(r.named, os.Getenv(contextVariable))
		in := all.Named(cmp.Or(named, all.Current))
		switch {
		case in != nil:
			server, token, ca = in.Server, cmp.Or(token, in.Token), cmp.Or(ca, in.CA)
		case named != "":
			return "", "", "", Usage(fmt.Errorf("there is no context %q; \"carillon get contexts\" shows all", named))
		default:
			server = DefaultServer
		}
	}
	if there := all.at(server); there != nil {
		token, ca = cmp.Or(token, there.Token), cmp.Or(ca, there.CA)
	}
	return server, token, ca, nil
}

// ofContext is where of the context that is named, alone.
func (r *Remote) ofContext() (server, token, ca string, err error) {
	all, err := ReadContexts()
	if err != nil {
		return "", "", "", err
	}
	in := all.Named(r.named)
	if in == nil {
		return "", "", "", Usage(fmt.Errorf("there is no context %q; \"carillon get contexts\" shows all", r.named))
	}
	return in.Server, in.Token, in.CA, nil
}

// Again tells that a part of the system is away, and that the server is asked again.
func (r *Remote) Again(err error, pause time.Duration) {
	r.say(err.Error() + "; trying again in " + job.Duration(pause).String())
}

// Dial returns the API of a server whose certificate is signed by an authority in the
// file ca, or by one of the system's if that is empty.
func Dial(server, by, ca string) (*client.API, error) {
	api, err := client.New(server, by)
	if err == nil && ca != "" {
		err = api.Trust(ca)
	}
	if err != nil {
		return nil, Usage(err)
	}
	return api, nil
}

// UserName returns who runs the program, for the record; it may be empty.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	name := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, u.Username)
	return name[:min(len(name), 128)]
}

// completionTime bounds what a person waits for after pressing Tab.
const completionTime = 2 * time.Second

// JobNames completes a job's name from those that the server has.
func (r *Remote) JobNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return r.complete(cmd, typed, func(ctx context.Context, api *client.API) (names []string, err error) {
		params := client.ListJobsParams{Fires: new(0), Runs: new(0)}
		if group, _, hasGroup := strings.Cut(typed, "/"); hasGroup {
			params.Group = &group
		}
		page, err := api.Jobs(ctx, params, 500)
		for _, item := range page.Items {
			names = append(names, string(item.Definition.Job.Job))
		}
		return names, err
	})
}
