package auth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

var here = Client{Address: "10.0.0.1", UserAgent: "test"}

func TestASessionEndsWithoutUse(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		signedIn := func(cookie string) bool {
			w.Helper()
			_, err := w.d.ByCookie(w.Context(), cookie)
			if err != nil && !errors.Is(err, ErrUnauthenticated) {
				w.Error(err)
			}
			return err == nil
		}
		_, idle, err := w.d.SignIn(w.Context(), "ann", password, here)
		w.check(err)
		time.Sleep(sessionIdle - time.Minute)
		if !signedIn(idle) { // and so it goes on
			w.Error("ended before its time")
		}
		time.Sleep(sessionIdle - time.Minute)
		if !signedIn(idle) {
			w.Error("ended though it was used")
		}
		time.Sleep(sessionIdle)
		if signedIn(idle) {
			w.Error("did not end without use")
		}
	})
}

func TestASessionEndsAfterAWeekOfUse(t *testing.T) {
	s := &Session{SeenAt: noon.Add(SessionLife - time.Minute), ExpiresAt: noon.Add(SessionLife)}
	if s.over(noon.Add(SessionLife-time.Millisecond)) || !s.over(noon.Add(SessionLife)) {
		t.Error("not at its time")
	}
}

func TestARevocationIsHeardByAllServersAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		other := w.run(w.connect("second"))
		_, cookie, err := w.d.SignIn(w.Context(), "ann", password, here)
		w.check(err)
		_, token, err := w.d.Tokens().Create(w.Context(), "ann", "script", rights.List{{Role: rights.Viewer, Group: rights.Everywhere}}, time.Hour)
		w.check(err)
		time.Sleep(100 * time.Millisecond)
		who, err := other.ByCookie(w.Context(), cookie)
		w.check(err)
		byToken, err := other.BySecret(w.Context(), token)
		w.check(err)
		w.check(w.d.Sessions().End(w.Context(), "ann", who.Session))
		w.check(w.d.Tokens().Revoke(w.Context(), byToken.Token))
		for i, d := range []*Directory{w.d, other} {
			time.Sleep(time.Duration(i) * 100 * time.Millisecond)
			if _, err := d.ByCookie(w.Context(), cookie); !errors.Is(err, ErrUnauthenticated) {
				w.Errorf("server %d: session: %v", i, err)
			}
			if _, err := d.BySecret(w.Context(), token); !errors.Is(err, ErrUnauthenticated) {
				w.Errorf("server %d: token: %v", i, err)
			}
		}
	})
}

// A killed NATS finds again what a deletion has hidden that was forgotten before.
// Live streams wait for it.
func TestEachChangeOfWhatASessionOrTokenIsWorthIsHeardByAllServers(t *testing.T) {
	inBubble(t, func(w *world) {
		other := w.run(w.connect("other"))
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		w.user("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		who, cookie, err := w.d.SignIn(w.Context(), "bob", password, here)
		w.check(err)
		token, _, err := w.d.Tokens().Create(w.Context(), "bob", "t", nil, time.Hour)
		w.check(err)
		heard := func(act func()) bool {
			time.Sleep(time.Second)
			changed := other.Changed()
			act()
			time.Sleep(time.Second)
			select {
			case <-changed:
				return true
			default:
				return false
			}
		}
		time.Sleep(seenEvery)
		if heard(func() { _, err = w.d.ByCookie(w.Context(), cookie); w.check(err) }) {
			t.Error("a session that goes on is a change")
		}
		for what, act := range map[string]func() error{
			"a user": func() error {
				_, _, err := w.d.Users().Put(w.Context(), "bob", UserEdit{Access: rights.List{}})
				return err
			},
			"the end of a session": func() error { return w.d.Sessions().End(w.Context(), "bob", who.Session) },
			"the end of a token":   func() error { return w.d.Tokens().Revoke(w.Context(), token.ID) },
		} {
			if !heard(func() { w.check(act()) }) {
				t.Errorf("%s is not heard of", what)
			}
		}
	})
}

func TestASessionThatWasEndedStaysSoWhenNATSIsKilled(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		signIn := func() (*Identity, string) {
			who, cookie, err := w.d.SignIn(w.Context(), "ann", password, here)
			w.check(err)
			return who, cookie
		}
		signIn() // so that the file is kept
		who, cookie := signIn()
		w.check(w.d.Sessions().End(w.Context(), "ann", who.Session))
		time.Sleep(sessionIdle / 2)
		signIn() // so that NATS reads the file: its index does not have this
		w.broker.Kill()
		w.broker.Start()
		time.Sleep(time.Minute)
		if _, err := w.run(w.connect("second")).ByCookie(w.Context(), cookie); !errors.Is(err, ErrUnauthenticated) {
			w.Errorf("the session is there again: %v", err)
		}
	})
}

func TestWhoIsSignedInStaysSoWhileTheBusIsAway(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		_, cookie, err := w.d.SignIn(w.Context(), "ann", password, here)
		w.check(errors.Join(err, w.d.sessions.table.wait(w.Context()), w.d.users.table.wait(w.Context())))
		w.broker.Stop()
		time.Sleep(time.Hour) // long enough for its use to be noted, which fails
		if _, err := w.d.ByCookie(w.Context(), cookie); err != nil {
			w.Error(err)
		}
		if _, _, err := w.d.SignIn(w.Context(), "ann", password, here); !errors.Is(err, job.ErrUnavailable) {
			w.Errorf("signed in: %v", err)
		}
		w.broker.Start()
		time.Sleep(time.Minute)
		if _, _, err := w.d.SignIn(w.Context(), "ann", password, here); err != nil {
			w.Error(err)
		}
	})
}

func TestGuessingIsSlowedByPairByAddressAndByUser(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		count := func(user, address string) error {
			for _, c := range countersOf(user, address) {
				if err := w.d.attempts.count(w.Context(), c); err != nil {
					return err
				}
			}
			return nil
		}
		tries := func(most int, user func(i int) string, address func(i int) string) {
			w.Helper()
			for i := range most {
				if err := count(user(i), address(i)); err != nil {
					w.Fatalf("try %d: %v", i, err)
				}
			}
			if err := count(user(most), address(most)); !errors.Is(err, ErrLocked) {
				w.Fatalf("after %d tries: %v", most, err)
			}
		}
		always := func(s string) func(int) string { return func(int) string { return s } }
		numbered := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
		tries(failPair, always("ann"), always("10.0.0.1"))
		tries(failAddress, numbered("user%d"), always("10.0.0.2"))
		tries(failAddress, numbered("user%d"), numbered("2001:db8:1:1::%x")) // one network is one address
		tries(failUser-failPair, always("ann"), numbered("10.0.1.%d"))
		if _, _, err := w.d.SignIn(w.Context(), "ann", password, here); !errors.Is(err, ErrLocked) {
			w.Errorf("the right password while locked: %v", err)
		}
		time.Sleep(failWindow)
		for range 2 * failUser { // who signs in well is never locked out
			if err := count("bob", "10.9.9.9"); err != nil {
				w.Fatal(err)
			}
			w.check(w.d.attempts.forgive(w.Context(), countersOf("bob", "10.9.9.9")))
		}
		if _, _, err := w.d.SignIn(w.Context(), "ann", password, here); err != nil {
			w.Errorf("once the window is over: %v", err)
		}
	})
}

func TestAnInvitationWorksOnceAndForADay(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		w.user("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		_, before, err := w.d.SignIn(w.Context(), "bob", password, here)
		w.check(err)
		secret, _, err := w.d.Invite(w.Context(), "bob")
		w.check(err)
		if _, _, err := w.d.Accept(w.Context(), secret, "ann", "another good password", here); !errors.Is(err, job.ErrInvalid) {
			w.Errorf("for another user: %v", err)
		}
		_, _, err = w.d.Accept(w.Context(), secret, "", "another good password", here)
		w.check(err)
		if _, _, err := w.d.Accept(w.Context(), secret, "", "a third good password", here); !errors.Is(err, ErrInvitation) {
			w.Errorf("a second time: %v", err)
		}
		if _, err := w.d.ByCookie(w.Context(), before); !errors.Is(err, ErrUnauthenticated) {
			w.Errorf("the session of the old password: %v", err)
		}
		late, _, err := w.d.Invite(w.Context(), "bob")
		w.check(err)
		void, _, err := w.d.Invite(w.Context(), "bob")
		w.check(err)
		w.check(w.d.Users().Delete(w.Context(), "bob", 0))
		w.user("bob", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		if _, _, err := w.d.Accept(w.Context(), void, "", password, here); !errors.Is(err, ErrInvitation) {
			w.Errorf("of a deleted user, for another of its name: %v", err)
		}
		time.Sleep(invitationLife)
		if _, err := w.d.Invitation(w.Context(), late); !errors.Is(err, ErrInvitation) {
			w.Errorf("after a day: %v", err)
		}
	})
}

// Whoever finds an older link must not be able to choose the password that its user has chosen.
func TestANewLinkOrPasswordVoidsTheOlderLinksOfAUser(t *testing.T) {
	inBubble(t, func(w *world) {
		const chosen = "another good password"
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		w.user("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		link := func() string {
			secret, _, err := w.d.Invite(w.Context(), "bob")
			w.check(err)
			return secret
		}
		void := func(of, secret string) {
			w.Helper()
			if _, err := w.d.Invitation(w.Context(), secret); !errors.Is(err, ErrInvitation) {
				w.Errorf("%s is shown: %v", of, err)
			}
			if _, _, err := w.d.Accept(w.Context(), secret, "", "a third good password", here); !errors.Is(err, ErrInvitation) {
				w.Errorf("%s is accepted: %v", of, err)
			}
		}
		older, newest := link(), link()
		void("a link before the newest", older)
		_, _, err := w.d.Accept(w.Context(), newest, "", chosen, here)
		w.check(err)
		void("a link before the one that was used", older)
		unused := link()
		w.check(w.d.Users().SetPassword(w.Context(), "bob", chosen))
		void("a link before a change of the password", unused)
		unused = link()
		for _, disabled := range []bool{true, false} {
			_, _, err = w.d.Users().Put(w.Context(), "bob", UserEdit{Disabled: &disabled})
			w.check(err)
		}
		void("a link from before the user was disabled", unused)
		recovered, _, err := w.d.Recover(w.Context(), "bob")
		w.check(err)
		void("a link before recovery", unused)
		_, _, err = w.d.Accept(w.Context(), recovered, "", chosen, here)
		w.check(err)
		if _, _, err := w.d.SignIn(w.Context(), "bob", chosen, here); err != nil {
			w.Errorf("the chosen password: %v", err)
		}
		kept, err := w.d.users.invitations.List(w.Context())
		w.check(err)
		for _, i := range kept {
			w.Errorf("a void link is kept: %s", i.Key)
		}
	})
}

func TestALinkIsAcceptedAtAServerThatHasNotHeardOfIt(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		late := w.run(w.connect("late"))
		time.Sleep(time.Second)
		w.broker.Lag("late")
		older, _, err := w.d.Invite(w.Context(), "ann")
		w.check(err)
		newest, _, err := w.d.Invite(w.Context(), "ann")
		w.check(err)
		if _, _, err := late.Accept(w.Context(), older, "", password, here); !errors.Is(err, ErrInvitation) {
			w.Errorf("the older link: %v", err)
		}
		if _, _, err := late.Accept(w.Context(), newest, "", password, here); err != nil {
			w.Errorf("the newest link: %v", err)
		}
	})
}

func TestOfUsesOfLinksAtTheSameTimeOneWins(t *testing.T) {
	inBubble(t, func(w *world) {
		other := w.run(w.connect("other"))
		race := func(what string, secrets []string, name func(int) string) {
			w.Helper()
			results := make(chan error)
			for i, secret := range secrets {
				go func() {
					_, _, err := []*Directory{w.d, other}[i%2].Accept(w.Context(), secret, name(i), fmt.Sprintf("good password number %d", i), here)
					results <- err
				}()
			}
			won := 0
			for range secrets {
				switch err := <-results; {
				case err == nil:
					won++
				case !errors.Is(err, ErrInvitation):
					w.Errorf("%s: %v", what, err)
				}
			}
			if won != 1 {
				w.Errorf("%s: %d of %d won", what, won, len(secrets))
			}
		}
		links := func(n int, invite func() (string, time.Time, error)) (list []string) {
			for range n {
				secret, _, err := invite()
				w.check(err)
				list = append(list, secret)
			}
			return list
		}
		// Each server that starts writes one: any of them works, and only the first that is used.
		race("links of several servers for the first administrator",
			links(4, func() (string, time.Time, error) { return w.d.InviteAdministrator(w.Context()) }),
			func(i int) string { return fmt.Sprintf("admin-%d", i) })
		users, err := w.d.Users().All(w.Context())
		w.check(err)
		if len(users) != 1 {
			w.Errorf("%d users", len(users))
		}
		invite := func() (string, time.Time, error) { return w.d.Invite(w.Context(), users[0].Name) }
		nobody := func(int) string { return "" }
		race("older and newest links of a user", links(4, invite), nobody)
		one := links(1, invite)
		race("one link", []string{one[0], one[0], one[0], one[0]}, nobody)
	})
}

func TestALinkForTheFirstAdministratorIsAcceptedWhileAServerAddsItsOwn(t *testing.T) {
	inBubble(t, func(w *world) {
		secret, _, err := w.d.InviteAdministrator(w.Context())
		w.check(err)
		_, read, err := w.d.invitation(w.Context(), secret)
		w.check(err)
		_, _, err = w.d.InviteAdministrator(w.Context())
		w.check(err)
		if _, err := w.d.createAdministrator(w.Context(), secret, "ann", "hash", read); err != nil {
			t.Error(err)
		}
		if _, err := w.d.createAdministrator(w.Context(), secret, "eve", "hash", read); !errors.Is(err, ErrInvitation) {
			t.Errorf("a second time: %v", err)
		}
	})
}

func TestOnlyTheNewestLinksForTheFirstAdministratorAreKept(t *testing.T) {
	inBubble(t, func(w *world) {
		var first, last string
		for i := range maxAdministratorLinks + 1 {
			secret, _, err := w.d.InviteAdministrator(w.Context())
			w.check(err)
			if i == 0 {
				first = secret
			}
			last = secret
		}
		if _, err := w.d.Invitation(w.Context(), first); !errors.Is(err, ErrInvitation) {
			w.Errorf("the oldest: %v", err)
		}
		if _, err := w.d.Invitation(w.Context(), last); err != nil {
			w.Errorf("the newest: %v", err)
		}
		time.Sleep(invitationLife)
		if _, err := w.d.Invitation(w.Context(), last); !errors.Is(err, ErrInvitation) {
			w.Errorf("after a day: %v", err)
		}
	})
}

func TestATokenEndsAtItsTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.user("ann", rights.Access{Role: rights.Admin, Group: rights.Everywhere})
		_, secret, err := w.d.Tokens().Create(w.Context(), "ann", "script", rights.List{{Role: rights.Viewer, Group: rights.Everywhere}}, time.Hour)
		w.check(err)
		time.Sleep(time.Hour - time.Millisecond)
		if _, err := w.d.BySecret(w.Context(), secret); err != nil {
			w.Error(err)
		}
		time.Sleep(time.Millisecond)
		if _, err := w.d.BySecret(w.Context(), secret); !errors.Is(err, ErrUnauthenticated) {
			w.Error(err)
		}
	})
}
