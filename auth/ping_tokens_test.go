package auth

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

const (
	backup  job.Name = "ops/backup"
	overlap          = 3 * time.Hour
)

// pingToken makes a token of the backup.
func (w *world) pingToken(rotate bool) (*PingToken, string) {
	w.Helper()
	t, secret, err := w.d.PingTokens().Create(w.Context(), backup, "ann", rotate, overlap)
	w.check(err)
	return t, secret
}

func (w *world) knowsPing(d *Directory, secret string) bool {
	w.Helper()
	_, known, err := d.PingTokens().BySecret(secret)
	w.check(err)
	return known
}

func TestAPingTokenIsKnownToEveryServerByItsSecretAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		other := w.run(w.connect("second"))
		if _, _, err := other.PingTokens().BySecret("x"); !errors.Is(err, job.ErrUnavailable) {
			w.Errorf("before the tokens are loaded: %v", err)
		}
		made, secret := w.pingToken(false)
		if !regexp.MustCompile(`^carillon_ping_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}$`).MatchString(secret) {
			w.Errorf("the secret is %q", secret)
		}
		time.Sleep(time.Second)
		for _, d := range []*Directory{w.d, other} {
			got, known, err := d.PingTokens().BySecret(secret)
			if err != nil || !known || got.Job != backup || got.By != "ann" {
				w.Errorf("%+v %v %v", got, known, err)
			}
		}
		own := secret[strings.LastIndex(secret, "_")+1:]
		if strings.Contains(made.Hash, own) {
			w.Error("the secret is stored")
		}
		for _, wrong := range []string{
			"", "carillon_", "carillon_ping_", made.ID, own, secret + "x", secret[:len(secret)-1], "carillon_" + made.ID + "_" + own,
			"carillon_ping_" + made.ID, "carillon_ping_" + made.ID + "_", "carillon_ping__" + own, "carillon_ping_" + made.ID + "_" + made.Hash, strings.ToUpper(secret),
		} {
			if w.knowsPing(w.d, wrong) {
				w.Errorf("%q passes", wrong)
			}
		}
		if _, err := w.d.BySecret(w.Context(), secret); !errors.Is(err, ErrUnauthenticated) {
			w.Errorf("it signs in: %v", err)
		}
		w.check(w.d.PingTokens().Revoke(w.Context(), backup, made.ID))
		time.Sleep(time.Second)
		if w.knowsPing(w.d, secret) || w.knowsPing(other, secret) {
			w.Error("it is known when it is revoked")
		}
		if err := w.d.PingTokens().Revoke(w.Context(), backup, made.ID); !errors.Is(err, job.ErrNotFound) {
			w.Error(err)
		}
	})
}

func TestARotatedPingTokenEndsAfterItsOverlap(t *testing.T) {
	inBubble(t, func(w *world) {
		_, first := w.pingToken(false)
		_, beside := w.pingToken(false)
		_, next := w.pingToken(true)
		time.Sleep(overlap - time.Second)
		if !w.knowsPing(w.d, first) || !w.knowsPing(w.d, beside) || !w.knowsPing(w.d, next) {
			w.Error("a token ends before the overlap is over")
		}
		time.Sleep(time.Second)
		if w.knowsPing(w.d, first) || w.knowsPing(w.d, beside) || !w.knowsPing(w.d, next) {
			w.Error("after the overlap, not only the new token is known")
		}
		list, err := w.d.PingTokens().OfJob(w.Context(), backup)
		w.check(err)
		if len(list) != 1 || !list[0].EndsAt.IsZero() {
			w.Errorf("%+v", list)
		}
		_, _, err = w.d.PingTokens().Create(w.Context(), backup, "ann", true, -time.Second)
		var invalid *job.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "overlap" {
			w.Errorf("overlap -1s: %v", err)
		}
		w.check(w.d.PingTokens().Tidy(w.Context(), time.Now(), exists(true)))
		if n := len(w.d.pingTokens.table.Find(func(*PingToken) bool { return true })); n != 1 {
			w.Errorf("%d tokens are kept", n)
		}
	})
}

func TestAJobHasFivePingTokensAtMost(t *testing.T) {
	inBubble(t, func(w *world) {
		for range MaxPingTokens {
			w.pingToken(true)
		}
		_, _, err := w.d.PingTokens().Create(w.Context(), backup, "ann", true, overlap)
		if !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "5 ping tokens") {
			w.Errorf("the sixth: %v", err)
		}
		_, _, err = w.d.PingTokens().Create(w.Context(), "ops/other", "ann", false, 0)
		w.check(err)
		time.Sleep(overlap)
		w.pingToken(true)
	})
}

// exists returns a judge by whom every job exists, or none.
func exists(all bool) func(context.Context, job.Name) (bool, error) {
	return func(context.Context, job.Name) (bool, error) { return all, nil }
}

func TestThePingTokensOfADeletedJobAreKeptForThirtyDays(t *testing.T) {
	inBubble(t, func(w *world) {
		_, secret := w.pingToken(false)
		now := noon
		tidy := func(all bool) { w.Helper(); w.check(w.d.PingTokens().Tidy(w.Context(), now, exists(all))) }
		tidy(false)
		now = now.Add(PingTokensKept - time.Hour)
		tidy(false)
		if !w.knowsPing(w.d, secret) {
			w.Error("the token is gone before 30 days")
		}
		tidy(true) // the job is made again, and deleted again
		now = now.Add(time.Hour)
		tidy(false)
		now = now.Add(PingTokensKept - time.Hour)
		tidy(false)
		if !w.knowsPing(w.d, secret) {
			w.Error("the token of a job that was made again is gone")
		}
		now = now.Add(time.Hour)
		tidy(false)
		if w.knowsPing(w.d, secret) {
			w.Error("the token is kept for more than 30 days")
		}
		away := func(context.Context, job.Name) (bool, error) { return false, job.ErrUnavailable }
		w.pingToken(false)
		if err := w.d.PingTokens().Tidy(w.Context(), now, away); !errors.Is(err, job.ErrUnavailable) {
			w.Error(err)
		}
	})
}

func TestTheUseOfAPingTokenIsStoredOnceAnHour(t *testing.T) {
	inBubble(t, func(w *world) {
		made, secret := w.pingToken(false)
		use := func(host string) string {
			w.Helper()
			w.check(w.d.PingTokens().Used(w.Context(), made.ID, PingUse{time.Now(), host}))
			got, _, err := w.d.PingTokens().BySecret(secret)
			w.check(err)
			return got.LastUse.Host
		}
		if got := use("web1"); got != "web1" {
			w.Errorf("the first use is of %q", got)
		}
		time.Sleep(time.Hour - time.Second)
		if got := use("web2"); got != "web1" {
			w.Errorf("within the hour, the use is of %q", got)
		}
		time.Sleep(time.Second)
		if got := use("web3"); got != "web3" {
			w.Errorf("an hour later, the use is of %q", got)
		}
		w.check(w.d.PingTokens().Revoke(w.Context(), backup, made.ID))
		if err := w.d.PingTokens().Used(w.Context(), made.ID, PingUse{time.Now(), "web4"}); !errors.Is(err, job.ErrNotFound) {
			w.Errorf("a use of no token: %v", err)
		}
	})
}
