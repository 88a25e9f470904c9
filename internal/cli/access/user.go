package access

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

// newUserCommand returns what is done with users; more are commands that ask no server.
func newUserCommand(more []*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Manage users",
		Example: "  carillon user create ann --role editor:billing --role viewer\n" +
			"  carillon get users\n  carillon user passwd ann",
	}
	cmd.AddCommand(newUserCreateCommand(), newUserSetRoleCommand(), newUserPasswdCommand(),
		newUserSwitchCommand(true), newUserSwitchCommand(false), newUserDeleteCommand())
	cmd.AddCommand(more...)
	return cmd
}

func newUserCreateCommand() *cobra.Command {
	var access cli.RolesFlag
	var display string
	var noLink bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user and print an invitation link",
		Long: "Create a user and print a one-time link, valid for 24 hours, to choose a password. A user for a\n" +
			"program needs a token instead of a link (--no-link).",
		Example: "  carillon user create ann --role editor:billing --role viewer\n" +
			"  carillon user create ci --role operator:deploy --no-link && carillon token create deploys --user ci",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().Var(&access, "role", cli.RolesHelp)
	cmd.Flags().StringVar(&display, "name", "", "full `name` of the user")
	cmd.Flags().BoolVar(&noLink, "no-link", false, "do not print a link")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		onlyNew := "*"
		user, err := client.Read[client.UserItem](api.PutUser(cmd.Context(), args[0], &client.PutUserParams{IfNoneMatch: &onlyNew},
			client.UserEdit{DisplayName: &display, Access: append([]client.Access{}, access...)}))
		if err != nil {
			return err
		}
		cli.Warn(cmd, user.Warnings)
		if noLink {
			return r.Show(cmd.OutOrStdout(), user, func(t *draw.Table) { t.Line("user " + user.User + " created: " + cli.Roles(user.Access)) })
		}
		return showLink(r, cmd, api, user.User)
	}
	return cmd
}

// showLink makes a one-time link for a user and shows it.
func showLink(r *cli.Remote, cmd *cobra.Command, api *client.API, user string) error {
	link, err := client.Read[client.InvitationLink](api.InviteUser(cmd.Context(), user))
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), link, func(t *draw.Table) {
		t.Line(user + " chooses a password with this one-time link, valid until " + t.Instant(link.ExpiresAt) + ":")
		t.Line(link.Link)
	})
}

func newGetUsersCommand() *cobra.Command {
	return cli.List[client.UserList]{
		Use: "users", Short: "List users", Example: "  carillon get users\n  carillon get users -o json",
		Fetch: func(ctx context.Context, api *client.API) (client.UserList, error) {
			return client.Read[client.UserList](api.ListUsers(ctx))
		},
		Columns: func(t *draw.Table, list client.UserList) { drawUsers(t, list.Items) },
	}.Command()
}

func drawUsers(t *draw.Table, users []client.UserItem) {
	if len(users) == 0 {
		t.Line("no users")
		return
	}
	t.Row("USER", "NAME", "MAY", "SIGNS IN")
	for _, u := range users {
		signsIn := string(u.SignsIn)
		if u.Disabled {
			signsIn = "disabled"
		}
		t.Row(u.User, t.Cell(u.DisplayName, 40), t.Cell(cli.Roles(u.Access), 80), signsIn)
	}
}

// editUser changes a user, if nobody else does at the same time.
func editUser(r *cli.Remote, cmd *cobra.Command, name, done string, change func(*client.UserEdit)) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	resp, err := api.GetUser(cmd.Context(), name)
	var etag string
	if err == nil {
		etag = resp.Header.Get("ETag")
	}
	was, err := client.Read[client.UserItem](resp, err)
	if err != nil {
		return err
	}
	edit := client.UserEdit{Access: was.Access}
	change(&edit)
	now, err := client.Read[client.UserItem](api.PutUser(cmd.Context(), name, &client.PutUserParams{IfMatch: &etag}, edit))
	if err != nil {
		return err
	}
	cli.Warn(cmd, now.Warnings)
	return r.Show(cmd.OutOrStdout(), now, func(t *draw.Table) { t.Line("user " + now.User + " " + done + ": " + cli.Roles(now.Access)) })
}

func newUserSetRoleCommand() *cobra.Command {
	var access cli.RolesFlag
	cmd := &cobra.Command{
		Use:     "set-role NAME --role ROLE...",
		Short:   "Change a user's role",
		Example: "  carillon user set-role ann --role admin\n  carillon user set-role bob --role operator:billing --role viewer:ops=",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().Var(&access, "role", cli.RolesHelp)
	if err := cmd.MarkFlagRequired("role"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return editUser(r, cmd, args[0], "changed", func(e *client.UserEdit) { e.Access = access })
	}
	return cmd
}

// newUserSwitchCommand returns disable or enable.
func newUserSwitchCommand(disable bool) *cobra.Command {
	verb, short := "enable", "Enable a user"
	if disable {
		verb, short = "disable", "Disable a user, with its sessions and tokens"
	}
	cmd := &cobra.Command{Use: verb + " NAME", Short: short, Example: "  carillon user " + verb + " ann", Args: cobra.ExactArgs(1)}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return editUser(r, cmd, args[0], verb+"d", func(e *client.UserEdit) { e.Disabled = &disable })
	}
	return cmd
}

func newUserDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "Delete users with their sessions and tokens", Example: "  carillon user delete ann", Args: cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(name string) error {
			if _, err := client.Read[client.None](api.DeleteUser(cmd.Context(), name, nil)); err != nil {
				return err
			}
			cmd.Printf("user %s deleted\n", name)
			return nil
		})
	}
	return cmd
}

func newUserPasswdCommand() *cobra.Command {
	var self string
	cmd := &cobra.Command{
		Use:   "passwd NAME | --self USER",
		Short: "Reset a user's password, or change your own",
		Long: "For another user, print a one-time link, valid for 24 hours, to choose a new password. With --self\n" +
			"and your user name, change your own password; the command asks for the present one. Both end all\n" +
			"sessions of the user.",
		Example: "  carillon user passwd ann\n  carillon user passwd --self bob",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (self != "") {
				return errors.New("name a user, or set --self to your own user name")
			}
			return nil
		},
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&self, "self", "", "your user `name`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		if self == "" {
			return showLink(r, cmd, api, args[0])
		}
		return changeOwnPassword(cmd, api, self)
	}
	return cmd
}

// changeOwnPassword signs in, changes the password and signs out.
func changeOwnPassword(cmd *cobra.Command, api *client.API, user string) error {
	ctx := cmd.Context()
	api.Authorize("") // only a session may do this
	current, err := askPassword(cmd, "Current password: ")
	if err != nil {
		return err
	}
	session, err := beginSession(ctx, api, user, current)
	if err != nil {
		return err
	}
	password, err := choosePassword(cmd)
	if err == nil {
		resp, failed := api.SetMyPassword(ctx, client.PasswordChange{Current: current, Password: password}, session)
		if failed == nil && len(resp.Cookies()) > 0 {
			session = withSession(api, resp)
		}
		_, err = client.Read[client.Me](resp, failed)
	}
	_, errOut := client.Read[client.None](api.SignOut(ctx, session))
	if err = errors.Join(err, errOut); err == nil {
		cmd.Println("password changed")
	}
	return err
}

// beginSession signs in with a password.
func beginSession(ctx context.Context, api *client.API, user, password string) (client.RequestEditorFn, error) {
	resp, err := api.SignIn(ctx, client.SignInRequest{User: user, Password: password})
	var session client.RequestEditorFn
	if err == nil {
		session = withSession(api, resp)
	}
	_, err = client.Read[client.Me](resp, err)
	return session, err
}
