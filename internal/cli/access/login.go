package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// loginLife is how long one stays signed in.
const loginLife = job.Duration(30 * 24 * 60 * 60 * 1e9)

func newLoginCommand() *cobra.Command {
	var user, link, name, token, ca string
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Sign in to a server",
		Long: "Sign in to a server with user name and password, and store an API token for later commands. It is\n" +
			"valid for 30 days; \"carillon logout\" revokes it. With --link, choose a password with a one-time\n" +
			"link first: from an invitation, or from the first start of the server. With --token, store an\n" +
			"existing token. The password is read from the terminal, or from standard input if that is not a\n" +
			"terminal. For a server with a private CA, use --ca; later commands remember it.",
		Example: "  carillon login https://carillon.example.org --user ann\n" +
			"  carillon login --user ann --link 'https://carillon.example.org/sign-in#invitation=…'\n" +
			"  carillon login https://carillon.example.org --token carillon_…",
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&user, "user", "u", "", "the user's `name`")
	f.StringVar(&link, "link", "", "a one-time `link`")
	f.StringVar(&token, "token", "", "an API `token` to store")
	cli.CAFlag(cmd, &ca)
	f.StringVar(&name, "context", "", "`name` of the context (default: the host of the server)")
	cmd.MarkFlagsMutuallyExclusive("link", "token")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		server, secret, err := whereTo(args, link)
		if err != nil {
			return cli.Usage(err)
		}
		if ca = cmp.Or(ca, os.Getenv(cli.CAVariable)); ca != "" { // remembered for every folder
			if ca, err = filepath.Abs(ca); err != nil {
				return fmt.Errorf("find %s: %w", ca, err)
			}
		}
		api, err := cli.Dial(server, "", ca)
		if err != nil {
			return err
		}
		made := client.NewToken{Secret: token}
		switch {
		case token != "":
			api.Authorize(token)
		case user == "" && secret == "":
			return cli.Usage(errors.New("set the user name with --user"))
		default:
			if made, err = signIn(cmd, api, user, secret); err != nil {
				return err
			}
			api.Authorize(made.Secret)
		}
		me, err := client.Read[client.Me](api.GetMe(cmd.Context()))
		if err != nil {
			return err
		}
		if name == "" {
			name = hostOf(server)
		}
		all, err := cli.ReadContexts()
		if err != nil {
			return err
		}
		all.Put(cli.SignedIn{Name: name, Server: api.Address(), User: me.User, Token: made.Secret, TokenID: made.Token.ID, ExpiresAt: made.Token.ExpiresAt, CA: ca})
		if err := all.Save(); err != nil {
			return err
		}
		cmd.Printf("%s is signed in to %s\n", me.User, api.Address())
		return nil
	}
	return cmd
}

// whereTo returns the server to sign in to, and the secret of the link.
func whereTo(args []string, link string) (server, secret string, err error) {
	server = cli.ServerFromEnvironment()
	if len(args) > 0 {
		server = args[0]
	}
	if link == "" {
		return server, "", nil
	}
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return "", "", errors.New("--link must be the whole link")
	}
	secret, ok := strings.CutPrefix(u.Fragment, "invitation=")
	if !ok || secret == "" {
		return "", "", errors.New("--link has no #invitation=…; it must be the whole link, in quotes")
	}
	if len(args) == 0 {
		server = u.Scheme + "://" + u.Host
	}
	return server, secret, nil
}

// signIn asks for a password, begins a session with it, makes a token and ends the
// session.
func signIn(cmd *cobra.Command, api *client.API, user, invitation string) (client.NewToken, error) {
	ctx := cmd.Context()
	var session client.RequestEditorFn
	if invitation == "" {
		password, err := askPassword(cmd, "Password: ")
		if err != nil {
			return client.NewToken{}, err
		}
		if session, err = beginSession(ctx, api, user, password); err != nil {
			return client.NewToken{}, err
		}
	} else {
		password, err := choosePassword(cmd)
		if err != nil {
			return client.NewToken{}, err
		}
		resp, err := api.AcceptInvitation(ctx, client.InvitationAccept{Invitation: invitation, User: user, Password: password})
		if err == nil {
			session = withSession(api, resp)
		}
		if _, err := client.Read[client.Me](resp, err); err != nil {
			return client.NewToken{}, err
		}
	}
	host, _ := os.Hostname() // the name is for people; without it, it says less
	made, err := client.Read[client.NewToken](api.CreateToken(ctx, client.TokenRequest{Name: strings.TrimSuffix("carillon login on "+host, " on "), ExpiresIn: loginLife}, session))
	_, errOut := client.Read[client.None](api.SignOut(ctx, session))
	return made, errors.Join(err, errOut)
}

// withSession has a request carry the session that an answer began.
func withSession(api *client.API, resp *http.Response) client.RequestEditorFn {
	cookies := resp.Cookies()
	return func(_ context.Context, req *http.Request) error {
		for _, c := range cookies {
			req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) //nolint:gosec // sent, not set: it has no attributes
		}
		req.Header.Set("Origin", api.Address())
		return nil
	}
}

// askPassword reads a password: without echo from a terminal, else one line.
func askPassword(cmd *cobra.Command, prompt string) (string, error) {
	in := cmd.InOrStdin()
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		cmd.PrintErr(prompt)
		data, err := term.ReadPassword(int(f.Fd()))
		cmd.PrintErrln()
		if err != nil {
			return "", fmt.Errorf("read password: %w", err)
		}
		return string(data), nil
	}
	line, err := readLine(in)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return line, nil
}

// readLine reads up to a line end, and no byte more: there may be another password.
func readLine(in io.Reader) (string, error) {
	if b, ok := in.(io.ByteReader); ok {
		return lineOf(b)
	}
	return lineOf(oneByOne{in})
}

func lineOf(in io.ByteReader) (string, error) {
	var line strings.Builder
	for {
		b, err := in.ReadByte()
		switch {
		case err == nil && b != '\n':
			line.WriteByte(b)
		case err == nil, errors.Is(err, io.EOF) && line.Len() > 0:
			return strings.TrimSuffix(line.String(), "\r"), nil
		default:
			return "", err
		}
	}
}

// oneByOne reads single bytes.
type oneByOne struct{ io.Reader }

// ReadByte implements [io.ByteReader].
func (r oneByOne) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r.Reader, b[:])
	return b[0], err
}

// choosePassword asks for a new password, at a terminal twice.
func choosePassword(cmd *cobra.Command) (string, error) {
	password, err := askPassword(cmd, "New password: ")
	if err != nil {
		return "", err
	}
	if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		again, err := askPassword(cmd, "Repeat the password: ")
		if err != nil {
			return "", err
		}
		if again != password {
			return "", &job.InvalidError{Field: "password", Reason: "does not match"}
		}
	}
	return password, nil
}

func hostOf(server string) string {
	u, err := url.Parse(cli.FullAddress(server))
	if err != nil {
		return server
	}
	return u.Host
}

func newLogoutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logout [CONTEXT]",
		Short:   "Sign out: revoke and remove the stored token",
		Example: "  carillon logout\n  carillon logout carillon.example.org",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := cli.ReadContexts()
		if err != nil {
			return err
		}
		name := all.Current
		if len(args) > 0 {
			name = args[0]
		}
		s := all.Named(name)
		if s == nil {
			return fmt.Errorf("%w: not signed in", job.ErrNotFound)
		}
		api, err := cli.Dial(s.Server, "", s.CA)
		if err != nil {
			return err
		}
		api.Authorize(s.Token)
		var revoke error
		if s.TokenID != "" { // one that was given with --token is not ours to revoke
			_, revoke = client.Read[client.None](api.RevokeToken(cmd.Context(), s.TokenID))
			if errors.Is(revoke, client.ErrDenied) || errors.Is(revoke, job.ErrNotFound) {
				revoke = nil // it has ended by itself
			}
		}
		if revoke != nil {
			return fmt.Errorf("revoke the token: %w", revoke)
		}
		cmd.Printf("%s is signed out of %s\n", s.User, s.Server)
		all.Remove(name)
		return all.Save()
	}
	return cmd
}

func newContextCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "context",
		Short:   "Manage the servers you are signed in to",
		Example: "  carillon get contexts\n  carillon context use carillon.example.org",
	}
	use := &cobra.Command{
		Use: "use CONTEXT", Short: "Switch to another context", Example: "  carillon context use carillon.example.org", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := cli.ReadContexts()
			if err != nil {
				return err
			}
			if all.Named(args[0]) == nil {
				return fmt.Errorf("%w: context %s", job.ErrNotFound, args[0])
			}
			all.Current = args[0]
			return all.Save()
		},
	}
	cmd.AddCommand(use)
	return cmd
}

func newGetContextsCommand() *cobra.Command {
	output := cli.AsTable
	cmd := &cobra.Command{
		Use: "contexts", Short: "List contexts", Example: "  carillon get contexts", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := cli.ReadContexts()
			if err != nil {
				return err
			}
			for i := range all.Items {
				all.Items[i].Token = "" // the file has it
			}
			return output.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), all, func(t *draw.Table) { drawContexts(t, all) })
		},
	}
	cmd.Flags().VarP(&output, "output", "o", "`format` of the answer: table, json or yaml")
	cli.UTCFlag(cmd)
	return cmd
}

func drawContexts(t *draw.Table, all *cli.Contexts) {
	if len(all.Items) == 0 {
		t.Line("not signed in")
		return
	}
	t.Row("CONTEXT", "CURRENT", "SERVER", "USER", "UNTIL")
	for _, s := range all.Items {
		current, until := "-", "-"
		if s.Name == all.Current {
			current = "yes"
		}
		if !s.ExpiresAt.IsZero() {
			until = t.Instant(s.ExpiresAt)
		}
		t.Row(t.Cell(s.Name, 60), current, t.Cell(s.Server, 80), t.Cell(s.User, 60), until)
	}
}
