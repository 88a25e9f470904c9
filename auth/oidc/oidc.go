package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Config says which provider, and what its users may do. Issuer and ClientID are
// required.
type Config struct {
	// Issuer is the provider's address, below which its configuration is found. It is
	// https, unless it is on this machine.
	Issuer string
	// ClientID and ClientSecret are what the provider knows this system by. A public
	// client has no secret.
	ClientID, ClientSecret string
	// Name is what the console's button says. Defaults to the issuer's host.
	Name string
	// Scopes are asked for besides openid. Default to profile and email.
	Scopes []string
	// UserClaim has a new user's name. Defaults to preferred_username, or else email.
	UserClaim string
	// GroupsClaim lists the user's groups. Defaults to groups.
	GroupsClaim string
	// Roles says what groups stand for; "*" is everybody. Defaults to nothing: then new
	// users may nothing, and administrators say what.
	Roles []Role
	// SessionLife is how long people stay signed in until the provider is asked again,
	// at most auth.SessionLife. Defaults to 12 h.
	SessionLife time.Duration
	// TokenLife is how long after a sign-in somebody's API tokens work, until the next
	// one; at most auth.MaxTokenLife. Defaults to auth.DefaultTokenRest.
	TokenLife time.Duration
	// HTTP sends requests to the provider. Defaults to a client that gives up after 10 s.
	HTTP *http.Client
}

// defaultSessionLife has people pass by the provider once a working day. Most providers
// remember them for longer, and ask for nothing.
const defaultSessionLife = 12 * time.Hour

// Role is what one of the provider's groups stands for.
type Role struct {
	Group  string // the provider's
	Access rights.Access
}

func (c Config) withDefaults() Config {
	if u, err := url.Parse(c.Issuer); err == nil && c.Name == "" {
		c.Name = u.Host
	}
	if c.Scopes == nil {
		c.Scopes = []string{"profile", "email"}
	}
	if c.GroupsClaim == "" {
		c.GroupsClaim = "groups"
	}
	if c.SessionLife == 0 {
		c.SessionLife = defaultSessionLife
	}
	if c.TokenLife == 0 {
		c.TokenLife = auth.DefaultTokenRest
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && !onThisMachine(u) {
		errs = append(errs, &job.InvalidError{Field: "oidc-issuer", Reason: fmt.Sprintf("%q must be an https address", c.Issuer)})
	}
	if c.ClientID == "" {
		errs = append(errs, &job.InvalidError{Field: "oidc-client-id", Reason: "is missing"})
	}
	if c.SessionLife < 0 || c.SessionLife > auth.SessionLife {
		errs = append(errs, &job.InvalidError{Field: "oidc-session", Reason: fmt.Sprintf("%s must be more than zero and at most %s", job.Duration(c.SessionLife), job.Duration(auth.SessionLife))})
	}
	if c.TokenLife < 0 || c.TokenLife > auth.MaxTokenLife {
		errs = append(errs, &job.InvalidError{Field: "oidc-tokens", Reason: fmt.Sprintf("%s must be more than zero and at most %s", job.Duration(c.TokenLife), job.Duration(auth.MaxTokenLife))})
	}
	for _, r := range c.Roles {
		if r.Group == "" {
			errs = append(errs, &job.InvalidError{Field: "oidc-role", Reason: "names no group of the provider"})
		}
		errs = append(errs, rights.List{r.Access}.Validate("oidc-role")...)
	}
	return errors.Join(errs...)
}

func onThisMachine(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// Provider signs people in. It is safe for concurrent use.
type Provider struct {
	cfg Config

	mu    sync.Mutex
	found *oidc.Provider // nil until it has been asked for
}

// New returns a provider, without asking for it. The error is an *InvalidError when
// cfg is wrong.
func New(cfg Config) (*Provider, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg}, nil
}

// Name returns what people know the provider by.
func (p *Provider) Name() string { return p.cfg.Name }

// Begin returns the address of the provider's page where somebody signs in, which
// sends them to back, with a code and the flow's state. The error is
// job.ErrUnavailable when the provider does not answer.
func (p *Provider) Begin(ctx context.Context, f Flow, back string) (string, error) {
	client, _, err := p.client(ctx, back)
	if err != nil {
		return "", err
	}
	return client.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish returns who has signed in, for the code that came back. The error is
// auth.ErrUnauthenticated when the provider does not vouch for anybody,
// job.ErrUnavailable when it does not answer, and *job.InvalidError when it says too
// little.
func (p *Provider) Finish(ctx context.Context, f Flow, code, back string) (*auth.External, error) {
	client, found, err := p.client(ctx, back)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, p.cfg.HTTP)
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, fmt.Errorf("redeem the code: %w", refusal(err))
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("%w: the provider gave no ID token", auth.ErrUnauthenticated)
	}
	id, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: verify ID token: %w", auth.ErrUnauthenticated, err)
	}
	if id.Nonce != f.Nonce {
		return nil, fmt.Errorf("%w: the ID token is of another sign-in", auth.ErrUnauthenticated)
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: decode ID token: %w", auth.ErrUnauthenticated, err)
	}
	if err := checkParties(id, claims, p.cfg.ClientID); err != nil {
		return nil, err
	}
	if err := p.complete(ctx, found, token, id.Subject, claims); err != nil {
		return nil, err
	}
	return p.external(id, claims)
}

// checkParties returns auth.ErrUnauthenticated unless an ID token names whom it is about, and was
// issued to this client. OpenID Connect Core, 2 and 3.1.3.7, requires both. Without the first, all
// people would be one user.
func checkParties(id *oidc.IDToken, claims map[string]any, clientID string) error {
	if id.Subject == "" {
		return fmt.Errorf("%w: the ID token names no subject (sub)", auth.ErrUnauthenticated)
	}
	azp, there := claims["azp"]
	if there && azp != clientID {
		return fmt.Errorf("%w: the ID token was issued to another client (azp)", auth.ErrUnauthenticated)
	}
	if !there && len(id.Audience) > 1 {
		return fmt.Errorf("%w: the ID token has several audiences (aud), and does not state to whom it was issued (azp)", auth.ErrUnauthenticated)
	}
	return nil
}

// complete adds what the provider tells of a user elsewhere than in the ID token, if
// something is missing there.
func (p *Provider) complete(ctx context.Context, found *oidc.Provider, token *oauth2.Token, subject string, claims map[string]any) error {
	_, hasGroups := claims[p.cfg.GroupsClaim]
	if found.UserInfoEndpoint() == "" || (hasGroups || len(p.cfg.Roles) == 0) && p.nameIn(claims) != "" {
		return nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("%w: read user info: %w", job.ErrUnavailable, err)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("%w: decode user info: %w", auth.ErrUnauthenticated, err)
	}
	if sub, ok := more["sub"]; ok && sub != subject {
		return fmt.Errorf("%w: the user info is of somebody else", auth.ErrUnauthenticated)
	}
	for name, value := range more {
		if _, known := claims[name]; !known {
			claims[name] = value
		}
	}
	return nil
}

func (p *Provider) nameIn(claims map[string]any) string {
	names := []string{p.cfg.UserClaim}
	if p.cfg.UserClaim == "" {
		names = []string{"preferred_username", "email"}
	}
	for _, name := range names {
		if text, ok := claims[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// external returns what claims say.
func (p *Provider) external(id *oidc.IDToken, claims map[string]any) (*auth.External, error) {
	e := &auth.External{Issuer: id.Issuer, Subject: id.Subject, Name: userName(p.nameIn(claims)), Managed: len(p.cfg.Roles) > 0, SessionLife: p.cfg.SessionLife, TokenLife: p.cfg.TokenLife}
	if err := auth.CheckUserName(e.Name); err != nil {
		return nil, fmt.Errorf("name of the user, from the claims of the ID token: %w", err)
	}
	if text, ok := claims["name"].(string); ok {
		e.DisplayName = text[:min(len(text), 200)]
	}
	groups := groupsIn(claims[p.cfg.GroupsClaim])
	for _, r := range p.cfg.Roles {
		if r.Group == "*" || slices.Contains(groups, r.Group) {
			e.Access = append(e.Access, r.Access)
		}
	}
	return e, nil
}

// userName makes a user's name of a claim: what cannot be in one becomes a '-'.
func userName(claim string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("._@-", c) {
			return c
		}
		return '-'
	}, strings.ToLower(claim))
	return strings.Trim(name, "._@-")
}

// groupsIn reads a list of names, or one.
func groupsIn(claim any) []string {
	switch c := claim.(type) {
	case string:
		return []string{c}
	case []any:
		var all []string
		for _, one := range c {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

// SignOut returns the address of the provider's page where one signs out there too,
// and comes back; empty when it has none, or is away.
func (p *Provider) SignOut(ctx context.Context, back string) string {
	found, err := p.discover(ctx)
	if err != nil {
		return ""
	}
	var more struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if found.Claims(&more) != nil || more.EndSession == "" {
		return ""
	}
	u, err := url.Parse(more.EndSession)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.cfg.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String()
}

func (p *Provider) client(ctx context.Context, back string) (*oauth2.Config, *oidc.Provider, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: back, Scopes: append([]string{oidc.ScopeOpenID}, p.cfg.Scopes...),
	}, found, nil
}

// discover returns the provider's configuration, which is asked for until it is there.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	found := p.found
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	// The provider keeps the context for later requests for its keys, which outlive this one.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.cfg.HTTP), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: read configuration of OIDC provider: %w", job.ErrUnavailable, err)
	}
	p.mu.Lock()
	p.found = found
	p.mu.Unlock()
	return found, nil
}

// refusal tells a provider that says no from one that does not answer.
func refusal(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil && e.Response.StatusCode < http.StatusInternalServerError {
		return fmt.Errorf("%w: %w", auth.ErrUnauthenticated, err)
	}
	return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
}
