package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"carillon/auth"
	"carillon/auth/oidc"
	"carillon/job"
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
	f.StringVar(&o.Issuer, "oidc-issuer", "", "the `address` of an OIDC provider that signs people in too")
	f.StringVar(&o.ClientID, "oidc-client-id", "", "the `id` by which the provider knows this system")
	f.StringVar(&o.secretFile, "oidc-client-secret", "", "the `file` of the secret by which the provider knows it (default: from "+oidcSecretVariable+")")
	f.StringVar(&o.Name, "oidc-name", "", "what the console calls the `provider` (default: its host)")
	f.StringSliceVar(&o.Scopes, "oidc-scope", nil, "a `scope` to ask for besides openid; may be repeated (default: profile and email)")
	f.StringVar(&o.UserClaim, "oidc-user-claim", "", "the `claim` with a new user's name (default: preferred_username, or else email)")
	f.StringVar(&o.GroupsClaim, "oidc-groups-claim", "groups", "the `claim` that lists a user's groups")
	f.Var(durationFlag{&o.SessionLife, 12 * time.Hour}, "oidc-session", "how long people stay signed in until the provider is asked again, who they are and in which groups; at most 7d")
	f.Var(durationFlag{&o.TokenLife, auth.DefaultTokenRest}, "oidc-tokens", "how long after somebody's sign-in at the provider their API tokens work, until the next sign-in; at most 366d")
	f.Var(&o.roles, "oidc-role", "what a group of the provider stands for, `GROUP=ROLE` with a role as \"carillon user create\" takes it; * is everybody;\nmay be repeated (default: administrators say what each user may)")
}

// open returns the provider, nil when none is named.
func (o *providerOptions) open() (*oidc.Provider, error) {
	if o.Issuer == "" {
		return nil, nil //nolint:nilnil // there need be none
	}
	secret, err := keyFrom(o.secretFile, oidcSecretVariable)
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
	var access accessFlag
	if err := access.Set(role); err != nil {
		return err
	}
	*f = append(*f, oidc.Role{Group: group, Access: access[0]})
	return nil
}

// Type names the flag's values in the help.
func (*providerRoles) Type() string { return "role" }
