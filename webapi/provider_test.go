package webapi

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/oidc"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// provided is a server with an OIDC provider, which is a server of its own.
type provided struct {
	*world
	provider *mockoidc.MockOIDC
}

func newProvided(t *testing.T, roles ...oidc.Role) *provided {
	t.Helper()
	return newProvidedFor(t, 0, roles...)
}

// newProvidedFor is newProvided with sessions that last so long.
func newProvidedFor(t *testing.T, life time.Duration, roles ...oidc.Role) *provided {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	p := &provided{provider: m}
	p.world = newWorld(t, func(c *Config, w *world) {
		c.Local = false
		var err error
		c.Provider, err = oidc.New(oidc.Config{
			Issuer: m.Issuer(), ClientID: m.ClientID, ClientSecret: m.ClientSecret, Name: "Example", Scopes: []string{"profile", "email", "groups"}, Roles: roles, SessionLife: life,
		})
		w.check(err)
	})
	return p
}

// browser follows redirects and keeps cookies, as people's do.
func (p *provided) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	p.check(err)
	return &http.Client{Jar: jar}
}

// get returns where a browser ends up, and what it finds there.
func (p *provided) get(b *http.Client, address string) (at *url.URL, status int, body map[string]any) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, address, http.NoBody)
	p.check(err)
	response, err := b.Do(r)
	p.check(err)
	defer func() { _ = response.Body.Close() }()
	_ = json.NewDecoder(response.Body).Decode(&body) // the console's pages are none
	return response.Request.URL, response.StatusCode, body
}

// signIn has a user of the provider sign in, and returns where that led.
func (p *provided) signIn(b *http.Client, u mockoidc.User) string {
	p.Helper()
	p.provider.QueueUser(u)
	at, _, _ := p.get(b, p.url+"/api/v1/sign-in/oidc?to=/jobs%3Fgroup%3Dbilling")
	return at.RequestURI()
}

func (p *provided) me(b *http.Client) (status int, me map[string]any) {
	_, status, me = p.get(b, p.url+"/api/v1/me")
	return status, me
}

func (p *provided) wantRefused(what, at, reason string) {
	p.Helper()
	if at != "/?refused="+reason {
		p.Errorf("%s: led to %s, want it refused as %s", what, at, reason)
	}
}

var (
	editors = oidc.Role{Group: "engineering", Access: rights.Access{Role: rights.Editor, Group: "billing"}}
	anybody = oidc.Role{Group: "*", Access: rights.Access{Role: rights.Viewer, Group: rights.Everywhere}}
)

func TestAProvidersUserSignsInWithTheRolesOfTheirGroups(t *testing.T) {
	p := newProvided(t, editors)
	jane := mockoidc.DefaultUser()
	b := p.browser()
	if at := p.signIn(b, jane); at != "/jobs?group=billing" {
		t.Errorf("led to %s", at)
	}
	status, me := p.me(b)
	if status != http.StatusOK || me["user"] != "jane.doe" || me["how"] != "session" || !strings.Contains(p.access(), "editor:billing") {
		t.Errorf("%d, %v", status, me)
	}
	// The next time they are in another group. It is the same user, whatever they are called now.
	jane.Groups, jane.PreferredUsername = []string{"design"}, "mallory"
	p.wantRefused("without a group", p.signIn(p.browser(), jane), refusedNoAccess)
	if access := p.access(); access != "" {
		t.Errorf("may still %s", access)
	}
	if status, _ := p.me(b); status != http.StatusOK { // signed in, but may nothing
		t.Errorf("status %d", status)
	}
	stranger := mockoidc.DefaultUser()
	stranger.Subject, stranger.Groups = "2", nil
	p.wantRefused("a stranger", p.signIn(p.browser(), stranger), refusedNoAccess)
	stranger.Groups = []string{"engineering"}
	p.wantRefused("another user of that name", p.signIn(p.browser(), stranger), refusedTaken)
}

// Whoever leaves a group at the provider stays signed in no longer than a session lasts:
// then they are asked for anew, and so is what they may.
func TestAProvidersUserIsAskedForAgainWhenTheSessionIsOver(t *testing.T) {
	p := newProvidedFor(t, time.Nanosecond, editors)
	jane, b := mockoidc.DefaultUser(), p.browser()
	if at := p.signIn(b, jane); at != "/jobs?group=billing" {
		t.Errorf("led to %s", at)
	}
	if status, _ := p.me(b); status != http.StatusUnauthorized {
		t.Errorf("still signed in after the session's life: %d", status)
	}
	jane.Groups = []string{"design"}
	p.wantRefused("who has left the group", p.signIn(b, jane), refusedNoAccess)
	if access := p.access(); access != "" {
		t.Errorf("may still %s", access)
	}
	for _, wrong := range []time.Duration{-time.Second, 8 * 24 * time.Hour} {
		if _, err := oidc.New(oidc.Config{Issuer: p.provider.Issuer(), ClientID: "x", SessionLife: wrong}); err == nil || !strings.Contains(err.Error(), "oidc-session") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestAPITokensOfAProvidersUserRestWithoutASignIn(t *testing.T) {
	p := newProvidedFor(t, 0, editors)
	p.signIn(p.browser(), mockoidc.DefaultUser())
	users := p.server.users
	token, secret, err := users.Tokens().Create(t.Context(), "jane.doe", "ci", rights.List{editors.Access}, time.Hour)
	p.check(err)
	bearer := header{"Authorization", "Bearer " + secret}
	if me, _ := want[Me](p.world, http.StatusOK, "GET", "/api/v1/me", nil, bearer); me.User != "jane.doe" {
		t.Errorf("%+v", me)
	}
	jane, err := users.Users().Get(t.Context(), "jane.doe")
	p.check(err)
	if rest := time.Until(jane.VouchedUntil); rest > auth.DefaultTokenRest || rest < auth.DefaultTokenRest-time.Minute {
		t.Errorf("tokens work for %s", rest)
	}
	// Another server of the cluster lets tokens rest at once.
	_, _, err = users.SignInExternal(t.Context(), &auth.External{
		Issuer: p.provider.Issuer(), Subject: mockoidc.DefaultUser().Subject, Managed: true, Access: rights.List{editors.Access}, TokenLife: time.Nanosecond,
	}, auth.Client{})
	p.check(err)
	p.problemWith([]header{bearer}, 401, "unauthenticated", "GET", "/api/v1/me", nil, "has not signed in")
	if list, err := users.Tokens().OfUser(t.Context(), "jane.doe"); err != nil || len(list) != 1 || !p.server.handlers.tokenItem(token).Rests {
		t.Errorf("%+v, %v", list, err)
	}
	p.signIn(p.browser(), mockoidc.DefaultUser())
	want[Me](p.world, http.StatusOK, "GET", "/api/v1/me", nil, bearer)
	for _, wrong := range []time.Duration{-time.Second, 400 * 24 * time.Hour} {
		if _, err := oidc.New(oidc.Config{Issuer: p.provider.Issuer(), ClientID: "x", TokenLife: wrong}); err == nil || !strings.Contains(err.Error(), "oidc-tokens") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestAProvidersSessionLastsForTwelveHoursUnlessOneSaysOtherwise(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{0: 12 * time.Hour, 3 * time.Hour: 3 * time.Hour} {
		t.Run(want.String(), func(t *testing.T) {
			p := newProvidedFor(t, life, anybody)
			p.signIn(p.browser(), mockoidc.DefaultUser())
			sessions, err := p.server.users.Sessions().OfUser(t.Context(), "jane.doe")
			p.check(err)
			if len(sessions) != 1 || sessions[0].ExpiresAt.Sub(sessions[0].CreatedAt) != want {
				t.Errorf("sessions %+v, want one for %s", sessions, want)
			}
		})
	}
}

// access returns what the provider's usual user may.
func (p *provided) access() string {
	p.Helper()
	u, err := p.server.users.Users().Get(p.Context(), "jane.doe")
	p.check(err)
	var all []string
	for _, a := range u.Access {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

func TestWithoutRolesOfGroupsAdministratorsSayWhatAProvidersUserMay(t *testing.T) {
	p := newProvided(t)
	b := p.browser()
	if at := p.signIn(b, mockoidc.DefaultUser()); strings.Contains(at, "refused") {
		t.Fatal(at)
	}
	_, _, err := p.server.users.Users().Put(t.Context(), "jane.doe", auth.UserEdit{Access: rights.List{{Role: rights.Operator, Group: "ops"}}})
	p.check(err)
	p.signIn(p.browser(), mockoidc.DefaultUser())
	if access := p.access(); access != "operator:ops" {
		t.Errorf("may %q", access)
	}
	_, _, err = p.server.users.Users().Put(t.Context(), "jane.doe", auth.UserEdit{Disabled: new(true)})
	p.check(err)
	p.wantRefused("a disabled user", p.signIn(p.browser(), mockoidc.DefaultUser()), refusedDisabled)
}

func TestASignInThatAnotherBrowserBeganIsRefused(t *testing.T) {
	p := newProvided(t, anybody)
	// One begins, and stops at the door on the way back: the address of that is for another.
	began := p.browser()
	var back string
	began.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/callback") {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	p.signIn(began, mockoidc.DefaultUser())
	at, _, _ := p.get(p.browser(), back)
	p.wantRefused("a browser that has not begun", at.RequestURI(), refusedStale)
	other := p.browser() // has begun one of its own
	other.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.get(other, p.url+"/api/v1/sign-in/oidc")
	other.CheckRedirect = nil
	at, _, _ = p.get(other, back)
	p.wantRefused("a browser that has begun another", at.RequestURI(), refusedStale)
	began.CheckRedirect = nil
	if at, _, _ = p.get(began, back+"&session_state=x"); at.RequestURI() != "/jobs?group=billing" {
		t.Errorf("whoever began it was led to %s", at)
	}
	at, _, _ = p.get(began, back)
	p.wantRefused("a code that has been used", at.RequestURI(), refusedByProvider)
}

// tampered is a user whose ID token says something else.
type tampered struct {
	*mockoidc.MockUser
	change func(*mockoidc.IDTokenClaims)
}

func (u tampered) Claims(scope []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	u.change(c)
	return u.MockUser.Claims(scope, c)
}

func TestAnIDTokenThatIsNotForThisSignInIsNotBelieved(t *testing.T) {
	p := newProvided(t, anybody)
	refused := func(what string, change func(*mockoidc.IDTokenClaims)) {
		t.Helper()
		b := p.browser()
		p.wantRefused(what, p.signIn(b, tampered{mockoidc.DefaultUser(), change}), refusedByProvider)
		if status, _ := p.me(b); status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", what, status)
		}
	}
	refused("another nonce", func(c *mockoidc.IDTokenClaims) { c.Nonce = "x" })
	refused("no nonce", func(c *mockoidc.IDTokenClaims) { c.Nonce = "" })
	refused("another client", func(c *mockoidc.IDTokenClaims) { c.Audience = jwt.ClaimStrings{"other"} })
	refused("another issuer", func(c *mockoidc.IDTokenClaims) { c.Issuer = "https://example.org" })
	refused("expired", func(c *mockoidc.IDTokenClaims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Hour)) })
	if at := p.signIn(p.browser(), tampered{mockoidc.DefaultUser(), func(*mockoidc.IDTokenClaims) {}}); at != "/jobs?group=billing" {
		t.Errorf("what was not tampered with was led to %s", at)
	}
}

func TestAProviderThatIsAwayKeepsNobodyWithAPasswordOut(t *testing.T) {
	w := newWorld(t, func(c *Config, w *world) {
		c.Local = false
		var err error
		c.Provider, err = oidc.New(oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "x"})
		w.check(err)
	})
	ways, _ := want[SignInWays](w, http.StatusOK, "GET", "/api/v1/sign-in", nil)
	if ways.Provider != "127.0.0.1:1" || !ways.Password {
		t.Errorf("ways %+v", ways)
	}
	p, _ := want[Problem](w, http.StatusServiceUnavailable, "GET", "/api/v1/sign-in/oidc", nil)
	if !strings.Contains(p.Detail, "provider does not answer") {
		t.Errorf("says %q", p.Detail)
	}
}

func TestALinkCannotLeadElsewhereAfterSignIn(t *testing.T) {
	for to, want := range map[string]string{
		"/jobs?x=1": "/jobs?x=1", "": "/", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/", "jobs": "/", "/api/v1/me": "/",
		"javascript:alert(1)": "/", "///evil.example": "/", "/%2F/evil": "/",
	} {
		if got := pathOfConsole(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
