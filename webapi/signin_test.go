package webapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

const password = "correct horse battery staple"

// guarded is a world whose server wants people to sign in.
type guardedWorld struct {
	*world
	said said
}

// said has the lines that the server wrote into its log.
type said chan string

// Write implements [io.Writer]. A line is a write. What nobody waits for is dropped.
func (s said) Write(line []byte) (int, error) {
	select {
	case s <- string(line):
	default:
	}
	return len(line), nil
}

func newGuardedWorld(t *testing.T, configure ...func(*Config, *world)) *guardedWorld {
	t.Helper()
	t.Parallel()
	return startGuardedWorld(t, configure...)
}

// startGuardedWorld returns one more world for a test.
func startGuardedWorld(t *testing.T, configure ...func(*Config, *world)) *guardedWorld {
	t.Helper()
	g := &guardedWorld{said: make(said, 100)}
	g.world = startWorld(t, append(configure, func(c *Config, _ *world) {
		c.Local = false
		c.Logger = slog.New(slog.NewTextHandler(g.said, nil))
	})...)
	want[SignInWays](g.world, http.StatusOK, "GET", "/api/v1/sign-in", nil) // users are loaded by then
	return g
}

// secretOf returns the secret in a one-time link.
func secretOf(t *testing.T, link string) string {
	t.Helper()
	found := regexp.MustCompile(`/sign-in#invitation=([a-z0-9]+)`).FindStringSubmatch(link)
	if found == nil {
		t.Fatalf("no link in %q", link)
	}
	return found[1]
}

// browser is somebody with a browser.
type browser struct {
	*world
	cookie string
}

// headers are those that a browser sends with a page's request.
func (b *browser) headers(more ...header) []header {
	return append([]header{{"Cookie", b.cookie}, {"Origin", b.url}, {"Sec-Fetch-Site", "same-origin"}}, more...)
}

// takes keeps the cookie of an answer.
func (b *browser) takes(h http.Header) {
	b.cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
}

// administrator creates the first administrator, ann, and returns her browser.
func (w *world) administrator() *browser {
	w.Helper()
	secret, _, err := w.server.users.InviteAdministrator(w.Context())
	w.check(err)
	b := &browser{world: w}
	_, head := want[Me](w, http.StatusOK, "POST", "/api/v1/invitations/accept", map[string]any{"invitation": secret, "user": "ann", "password": password})
	b.takes(head)
	return b
}

// person creates a user with a password and signs in.
func (b *browser) person(name string, access ...rights.Access) *browser {
	b.Helper()
	want[UserItem](b.world, http.StatusCreated, "PUT", "/api/v1/users/"+name, map[string]any{"access": append(rights.List{}, access...)}, b.headers()...)
	link, _ := want[InvitationLink](b.world, http.StatusCreated, "POST", "/api/v1/users/"+name+"/invite", nil, b.headers()...)
	p := &browser{world: b.world}
	_, head := want[Me](b.world, http.StatusOK, "POST", "/api/v1/invitations/accept", map[string]any{"invitation": secretOf(b.T, link.Link), "password": password})
	p.takes(head)
	return p
}

func TestTheFirstStartPrintsALinkThatCreatesTheAdministratorOnce(t *testing.T) {
	g := newGuardedWorld(t)
	ways, _ := want[SignInWays](g.world, http.StatusOK, "GET", "/api/v1/sign-in", nil)
	if !ways.NeedsAdministrator || ways.Local || !ways.Password {
		t.Errorf("%+v", ways)
	}
	g.problem(401, "unauthenticated", "GET", "/api/v1/jobs", nil)
	var link []string
	for link == nil { // or the test is over its time
		link = regexp.MustCompile(`link="?(http://127\.0\.0\.1:\d+/sign-in#invitation=[a-z0-9]+)`).FindStringSubmatch(<-g.said)
	}
	g.stop()
	g.check(<-g.ended)

	again := startGuardedWorld(t, func(_ *Config, w *world) { w.conn = g.conn })
	secret := map[string]any{"invitation": secretOf(t, link[1])}
	invited, _ := want[Invitation](again.world, http.StatusOK, "POST", "/api/v1/invitations/read", secret)
	if !invited.Administrator || invited.User != "" {
		t.Errorf("%+v", invited)
	}
	accept := func(user, password string) map[string]any {
		return map[string]any{"invitation": secret["invitation"], "user": user, "password": password}
	}
	again.problem(400, "invalid", "POST", "/api/v1/invitations/accept", accept("Ann Smith", password), `"field":"user"`)
	again.problem(400, "invalid", "POST", "/api/v1/invitations/accept", accept("ann", "short"), "at least 12 characters")
	me, head := want[Me](again.world, http.StatusOK, "POST", "/api/v1/invitations/accept", accept("ann", password))
	if me.User != "ann" || me.How != rights.BySession || len(me.Can.Admin) != 1 || me.Can.Admin[0] != "*" || !me.HasPassword {
		t.Errorf("%+v", me)
	}
	b := &browser{world: again.world}
	b.takes(head)
	want[JobPage](again.world, http.StatusOK, "GET", "/api/v1/jobs", nil, b.headers()...)
	again.problem(404, "not_found", "POST", "/api/v1/invitations/accept", accept("eve", password), "ask for a new one")
	again.problem(404, "not_found", "POST", "/api/v1/invitations/read", secret)
	// One that was made before is void too, now that there is an administrator.
	other, _, err := again.server.users.InviteAdministrator(t.Context())
	again.check(err)
	again.problem(404, "not_found", "POST", "/api/v1/invitations/accept", map[string]any{"invitation": other, "user": "eve", "password": password})
}

func TestSigningInGivesACookieThatScriptsAndOtherSitesCannotUse(t *testing.T) {
	g := newGuardedWorld(t)
	g.administrator()
	signIn := map[string]any{"user": "ann", "password": password}
	_, head := want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", signIn)
	cookie := head.Get("Set-Cookie")
	for _, part := range []string{"carillon_session=", "Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%q has no %s", cookie, part)
		}
	}
	b := &browser{world: g.world}
	b.takes(head)
	me, _ := want[Me](g.world, http.StatusOK, "GET", "/api/v1/me", nil, b.headers()...)
	if me.User != "ann" {
		t.Errorf("%+v", me)
	}
	hold := `{"paused":true}`
	want[Pause](g.world, http.StatusOK, "PUT", "/api/v1/pause", hold, b.headers()...)
	cookieOnly := header{"Cookie", b.cookie}
	g.problemWith([]header{cookieOnly}, 403, "forbidden", "PUT", "/api/v1/pause", hold, "Origin")
	g.problemWith([]header{cookieOnly, {"Origin", "http://evil.example"}}, 403, "forbidden", "PUT", "/api/v1/pause", hold)
	g.problemWith([]header{cookieOnly, {"Sec-Fetch-Site", "same-site"}}, 403, "forbidden", "PUT", "/api/v1/pause", hold)
	g.problemWith([]header{{"Cookie", b.cookie + "x"}}, 401, "unauthenticated", "GET", "/api/v1/me", nil)

	_, head = want[struct{}](g.world, http.StatusNoContent, "POST", "/api/v1/sign-out", nil, b.headers()...)
	if !strings.Contains(head.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("signed out with %q", head.Get("Set-Cookie"))
	}
	g.problemWith(b.headers(), 401, "unauthenticated", "GET", "/api/v1/me", nil)
	want[struct{}](g.world, http.StatusNoContent, "POST", "/api/v1/sign-out", nil, b.headers()...)
}

func TestBehindAProxyTheCookieIsForTLSOnlyAndTheAddressIsTheClients(t *testing.T) {
	g := newGuardedWorld(t, func(c *Config, _ *world) { c.BehindProxy, c.PublicURL = true, "https://carillon.test/" })
	b := g.administrator()
	if !strings.HasPrefix(b.cookie, "__Host-carillon_session=") {
		t.Errorf("cookie %q", b.cookie)
	}
	signIn := map[string]any{"user": "ann", "password": password}
	via := header{"X-Forwarded-For", "6.6.6.6, 10.1.2.3"}
	_, head := want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", signIn, via, header{"Host", "carillon.test"}, header{"Origin", "https://carillon.test"})
	if !strings.Contains(head.Get("Set-Cookie"), "Secure") || head.Get("Strict-Transport-Security") == "" {
		t.Errorf("%v", head)
	}
	b.takes(head)
	sessions, _ := want[SessionList](g.world, http.StatusOK, "GET", "/api/v1/me/sessions", nil, b.headers()...)
	if len(sessions.Items) != 2 || sessions.Items[0].Address != "10.1.2.3" || !sessions.Items[0].Current || sessions.Items[1].Current {
		t.Errorf("%+v", sessions)
	}
	want[UserItem](g.world, http.StatusCreated, "PUT", "/api/v1/users/bob", `{"access":[]}`, b.headers()...)
	link, _ := want[InvitationLink](g.world, http.StatusCreated, "POST", "/api/v1/users/bob/invite", nil, b.headers()...)
	if !strings.HasPrefix(link.Link, "https://carillon.test/sign-in#invitation=") {
		t.Errorf("%+v", link)
	}
}

func TestOnlyThisMachineIsLocal(t *testing.T) {
	w := newWorld(t)
	me, _ := want[Me](w, http.StatusOK, "GET", "/api/v1/me", nil, header{"Carillon-User", "ann"})
	if me.User != "ann" || me.How != rights.ByLocal || me.Can.Admin[0] != "*" {
		t.Errorf("%+v", me)
	}
	named := startWorld(t, func(c *Config, _ *world) { c.LocalUser = "lin" })
	if me, _ := want[Me](named, http.StatusOK, "GET", "/api/v1/me", nil); me.User != "lin" {
		t.Errorf("who sends no name is %q, want the account of the server", me.User)
	}
	for _, h := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		w.problemWith([]header{{h, "10.1.2.3"}}, 401, "unauthenticated", "GET", "/api/v1/me", nil)
	}
	w.problemWith([]header{{"Authorization", "Bearer carillon_x_y"}}, 401, "unauthenticated", "GET", "/api/v1/me", nil)
}

func TestWrongPasswordsLockOutForAWhile(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	right, wrong := map[string]any{"user": "ann", "password": password}, map[string]any{"user": "ann", "password": "not this one at all"}
	for range 7 {
		g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", wrong, "the user name or the password is wrong")
	}
	want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", right) // begins the count anew
	for range 8 {
		g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", wrong)
	}
	for _, body := range []any{wrong, right} {
		g.problem(429, "too_many", "POST", "/api/v1/sign-in", body, "try again in")
	}
	if a := g.send("POST", "/api/v1/sign-in", right); a.header.Get("Retry-After") == "" {
		t.Errorf("%v", a.header)
	}
	metrics := g.send("GET", "/metrics", nil, ann.headers()...).text
	for _, line := range []string{`carillon_http_sign_ins_total{result="done"} 1`, `carillon_http_sign_ins_total{result="wrong"} 15`, `carillon_http_sign_ins_total{result="locked"} 3`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
	g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", map[string]any{"user": "nobody", "password": password})
}

func TestAChangedPasswordEndsTheOtherSessions(t *testing.T) {
	g := newGuardedWorld(t)
	b := g.administrator()
	other := &browser{world: g.world}
	_, head := want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", map[string]any{"user": "ann", "password": password})
	other.takes(head)
	const path = "/api/v1/me/password"
	g.problemWith(b.headers(), 401, "unauthenticated", "PUT", path, map[string]any{"current": "wrong", "password": "another good password"})
	g.problemWith(b.headers(), 400, "invalid", "PUT", path, map[string]any{"current": password, "password": "annannannann"}, `"field":"password"`)
	_, head = want[Me](g.world, http.StatusOK, "PUT", path, map[string]any{"current": password, "password": "another good password"}, b.headers()...)
	b.takes(head)
	want[Me](g.world, http.StatusOK, "GET", "/api/v1/me", nil, b.headers()...)
	g.problemWith(other.headers(), 401, "unauthenticated", "GET", "/api/v1/me", nil)
	g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", map[string]any{"user": "ann", "password": password})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	sessions, _ := want[SessionList](g.world, http.StatusOK, "GET", "/api/v1/me/sessions", nil, bob.headers()...)
	if len(sessions.Items) != 1 || !sessions.Items[0].Current || sessions.Items[0].Address != "127.0.0.1" {
		t.Fatalf("%+v", sessions)
	}
	id := sessions.Items[0].ID
	g.problemWith(ann.headers(), 404, "not_found", "DELETE", "/api/v1/me/sessions/"+id, nil) // not hers
	seen, _ := want[SessionList](g.world, http.StatusOK, "GET", "/api/v1/users/bob/sessions", nil, ann.headers()...)
	if len(seen.Items) != 1 || seen.Items[0].Current {
		t.Errorf("%+v", seen)
	}
	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/me/sessions/"+id, nil, bob.headers()...)
	g.problemWith(bob.headers(), 401, "unauthenticated", "GET", "/api/v1/me", nil)

	_, head := want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", map[string]any{"user": "bob", "password": password})
	bob.takes(head)
	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/bob/sessions", nil, ann.headers()...)
	g.problemWith(bob.headers(), 401, "unauthenticated", "GET", "/api/v1/me", nil)
}

func TestADisabledOrDeletedUserIsNobody(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: rights.Everywhere})
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"script"}`, bob.headers()...)
	bearer := header{"Authorization", "Bearer " + made.Secret}
	want[JobPage](g.world, http.StatusOK, "GET", "/api/v1/jobs", nil, bearer)

	put := func(disabled bool) {
		t.Helper()
		body := map[string]any{"access": rights.List{{Role: rights.Viewer, Group: rights.Everywhere}}, "disabled": disabled}
		want[UserItem](g.world, http.StatusOK, "PUT", "/api/v1/users/bob", body, ann.headers()...)
	}
	put(true)
	g.problemWith(bob.headers(), 401, "unauthenticated", "GET", "/api/v1/jobs", nil)
	g.problemWith([]header{bearer}, 401, "unauthenticated", "GET", "/api/v1/jobs", nil)
	g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", map[string]any{"user": "bob", "password": password})
	put(false)
	want[JobPage](g.world, http.StatusOK, "GET", "/api/v1/jobs", nil, bearer)
	g.problemWith(bob.headers(), 401, "unauthenticated", "GET", "/api/v1/jobs", nil) // signs in anew

	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/bob", nil, ann.headers()...)
	g.problemWith([]header{bearer}, 401, "unauthenticated", "GET", "/api/v1/jobs", nil)
	// Another user of that name has nothing of the first.
	ann.person("bob", rights.Access{Role: rights.Viewer, Group: rights.Everywhere})
	g.problemWith([]header{bearer}, 401, "unauthenticated", "GET", "/api/v1/jobs", nil)
}

func TestTheLastAdministratorStays(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.problemWith(ann.headers(), 409, "conflict", "DELETE", "/api/v1/users/ann", nil, "last administrator")
	g.problemWith(ann.headers(), 409, "conflict", "PUT", "/api/v1/users/ann", `{"access":[{"role":"viewer","group":"*"}]}`, "last administrator")
	g.problemWith(ann.headers(), 409, "conflict", "PUT", "/api/v1/users/ann", `{"access":[{"role":"admin","group":"*"}],"disabled":true}`, "last administrator")
	ann.person("bob", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/ann", nil, ann.headers()...)
	g.problemWith(ann.headers(), 401, "unauthenticated", "GET", "/api/v1/me", nil)
}

func TestUsersAreEditedConditionally(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	body := `{"display_name":"Bob","access":[{"role":"operator","group":"billing"},{"role":"viewer","group":"*","grants":[]}]}`
	created, head := want[UserItem](g.world, http.StatusCreated, "PUT", "/api/v1/users/bob", body, ann.headers(header{"If-None-Match", "*"})...)
	if created.SignsIn != UserItemSignsInNever || len(created.Access) != 2 || len(created.Access[0].Grants) != 2 || len(created.Access[1].Grants) != 0 {
		t.Errorf("%+v", created)
	}
	g.problemWith(ann.headers(header{"If-None-Match", "*"}), 412, "precondition_failed", "PUT", "/api/v1/users/bob", body, "exists already")
	g.problemWith(ann.headers(header{"If-Match", `"9999"`}), 412, "precondition_failed", "PUT", "/api/v1/users/bob", body)
	want[UserItem](g.world, http.StatusOK, "PUT", "/api/v1/users/bob", body, ann.headers(header{"If-Match", head.Get("ETag")})...)
	g.problemWith(ann.headers(header{"If-Match", head.Get("ETag")}), 412, "precondition_failed", "DELETE", "/api/v1/users/bob", nil)
	for _, bad := range []string{`{"access":[{"role":"king","group":"*"}]}`, `{"access":[{"role":"admin","group":"A.B"}]}`, `{"access":[{"role":"admin","group":"*","grants":["all"]}]}`, `{}`, `{"access":[],"password":"x"}`} {
		g.problemWith(ann.headers(), 400, "invalid", "PUT", "/api/v1/users/bob", bad)
	}
	g.problemWith(ann.headers(), 400, "invalid", "PUT", "/api/v1/users/Bob", `{"access":[]}`, `"field":"user"`)
	list, _ := want[UserList](g.world, http.StatusOK, "GET", "/api/v1/users", nil, ann.headers()...)
	if len(list.Items) != 2 || list.Items[0].User != "ann" || list.Items[1].DisplayName != "Bob" {
		t.Errorf("%+v", list)
	}
	text := g.send("GET", "/api/v1/users", nil, ann.headers()...).text
	if strings.Contains(text, "argon2") {
		t.Errorf("hashes are shown: %s", text)
	}
}

func TestATokenIsNeverMoreThanItsUser(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "billing"})
	create := func(body string) NewToken {
		t.Helper()
		made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", body, bob.headers()...)
		return made
	}
	narrow := create(`{"name":"reader","access":[{"role":"viewer","group":"billing"}],"expires_in":"2h"}`)
	wide := create(`{"name":"greedy","access":[{"role":"admin","group":"*"}]}`)
	with := func(t NewToken) header { return header{"Authorization", "Bearer " + t.Secret} }
	want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, with(narrow))
	g.problemWith([]header{with(narrow)}, 403, "forbidden", "POST", "/api/v1/jobs/billing/x/pause", nil, "operator in group billing")
	want[JobItem](g.world, http.StatusOK, "POST", "/api/v1/jobs/billing/x/pause", nil, with(wide))
	g.problemWith([]header{with(wide)}, 403, "forbidden", "GET", "/api/v1/users", nil)
	g.problemWith([]header{with(wide)}, 403, "forbidden", "GET", "/api/v1/jobs/ops/x", nil)
	g.problemWith([]header{with(wide)}, 403, "forbidden", "PUT", "/api/v1/me/password", map[string]any{"current": password, "password": "another good password"})
	// What a token makes is not more than the token.
	child, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"child"}`, with(narrow))
	g.problemWith([]header{with(child)}, 403, "forbidden", "POST", "/api/v1/jobs/billing/x/pause", nil)

	// The user's own fate is the token's.
	want[UserItem](g.world, http.StatusOK, "PUT", "/api/v1/users/bob", `{"access":[{"role":"viewer","group":"billing"}]}`, ann.headers()...)
	g.problemWith([]header{with(wide)}, 403, "forbidden", "POST", "/api/v1/jobs/billing/x/resume", nil)

	list, _ := want[TokenList](g.world, http.StatusOK, "GET", "/api/v1/tokens", nil, bob.headers()...)
	if text, _ := json.Marshal(list); len(list.Items) != 3 || strings.Contains(string(text), "hash") {
		t.Errorf("%+v", list)
	}
	g.problemWith(bob.headers(), 403, "forbidden", "GET", "/api/v1/tokens?user=ann", nil)
	g.problemWith(bob.headers(), 403, "forbidden", "GET", "/api/v1/tokens?user=*", nil)
	if all, _ := want[TokenList](g.world, http.StatusOK, "GET", "/api/v1/tokens?user=*", nil, ann.headers()...); len(all.Items) != 3 {
		t.Errorf("%+v", all)
	}
	hers, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"hers"}`, ann.headers()...)
	g.problemWith(bob.headers(), 404, "not_found", "DELETE", "/api/v1/tokens/"+hers.Token.ID, nil)
	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/tokens/"+wide.Token.ID, nil, bob.headers()...)
	g.problemWith([]header{with(wide)}, 401, "unauthenticated", "GET", "/api/v1/me", nil)
	for _, bad := range []string{`{"name":""}`, `{"name":"x","expires_in":"400d"}`, `{"name":"x","expires_in":"-1s"}`, `{"name":"x","access":[]}`, `{"name":"x","access":[{"role":"x","group":"*"}]}`} {
		g.problemWith(bob.headers(), 400, "invalid", "POST", "/api/v1/tokens", bad)
	}
	g.problemWith(bob.headers(), 403, "forbidden", "POST", "/api/v1/tokens", `{"name":"x","user":"ann"}`)
	for _, secret := range []string{"", "x", "carillon_", "carillon_" + wide.Token.ID + "_x", narrow.Secret + "x", narrow.Secret[:len(narrow.Secret)-1]} {
		g.problemWith([]header{{"Authorization", "Bearer " + secret}}, 401, "unauthenticated", "GET", "/api/v1/me", nil)
	}
	g.problemWith([]header{{"Authorization", "Basic YW5uOng="}}, 401, "unauthenticated", "GET", "/api/v1/me", nil)
}

// putAs saves a job as somebody.
func (w *world) putAs(b *browser, name job.Name) {
	w.Helper()
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), document(name, "@daily"), b.headers()...)
}

func TestTheAuthorIsWhoIsSignedInWhateverTheRequestSays(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	result, _ := want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", document("billing/x", "@daily"), ann.headers(header{"Carillon-User", "eve"})...)
	if result.Definition.Author != "ann" {
		t.Errorf("author %q", result.Definition.Author)
	}
}
