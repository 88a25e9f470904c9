package node

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/oidc"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
)

// oidcSecretVariable has the secret itself, not a file.
const oidcSecretVariable = "CARILLON_OIDC_CLIENT_SECRET" //nolint:gosec // its name

// providerOptions are the flags of the OIDC provider.
type providerOptions struct {
	oidc.Config
	secretFile string
	roles      providerRoles
}

func (o *providerOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Issuer, "oidc-issuer", "", "`address` of an OIDC provider for single sign-on")
	f.StringVar(&o.ClientID, "oidc-client-id", "", "client `id` at the provider")
	f.StringVar(&o.secretFile, "oidc-client-secret", "", "`file` with the client secret (default: from "+oidcSecretVariable+")")
	f.StringVar(&o.Name, "oidc-name", "", "name of the `provider` on the sign-in page (default: its host)")
	f.StringSliceVar(&o.Scopes, "oidc-scope", nil, "additional `scope` to request; can be repeated (default: profile and email)")
	f.StringVar(&o.UserClaim, "oidc-user-claim", "", "`claim` with the name of a new user (default: preferred_username, or else email)")
	f.StringVar(&o.GroupsClaim, "oidc-groups-claim", "groups", "`claim` with the groups of a user")
	f.Var(cli.Duration(&o.SessionLife, 12*time.Hour), "oidc-session", "session lifetime until users and their groups are checked with the provider again; at most 7d")
	f.Var(cli.Duration(&o.TokenLife, auth.DefaultTokenRest), "oidc-tokens", "how long API tokens work after the last sign-in of their user at the provider; at most 366d")
	f.Var(&o.roles, "oidc-role", "role of a provider group, `GROUP=ROLE`, with roles as in \"carillon user create\"; * is every user;\ncan be repeated (default: new users have no permissions until an administrator grants them)")
}

// open returns the provider, nil when none is named.
func (o *providerOptions) open() (*oidc.Provider, error) {
	if o.Issuer == "" {
		return nil, nil //nolint:nilnil // there need be none
	}
	secret, err := keyfile.Read(o.secretFile, oidcSecretVariable)
	if err != nil {
		return nil, err
	}
	cfg := o.Config
	cfg.ClientSecret, cfg.Roles = strings.TrimSpace(secret), o.roles
	return oidc.New(cfg)
}

// providerRoles is a flag, given once for each role.
type providerRoles []oidc.Role

func (f *providerRoles) String() string {
	var parts []string
	for _, r := range *f {
		parts = append(parts, r.Group+"="+r.Access.String())
	}
	return strings.Join(parts, " ")
}

// Set reads one.
func (f *providerRoles) Set(s string) error {
	group, role, ok := strings.Cut(s, "=")
	if !ok || group == "" {
		return &job.InvalidError{Reason: fmt.Sprintf("%q must be GROUP=ROLE, as in engineering=editor:billing", s)}
	}
	var access cli.RolesFlag
	if err := access.Set(role); err != nil {
		return err
	}
	*f = append(*f, oidc.Role{Group: group, Access: access[0]})
	return nil
}

// Type names the flag's values in the help.
func (*providerRoles) Type() string { return "role" }
