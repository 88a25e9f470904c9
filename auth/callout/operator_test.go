package callout_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/job"
)

// operator returns the keys of servers, and those of an operator.
func operator(t *testing.T) (servers callout.Public, seed, key string) {
	t.Helper()
	keys, err := callout.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	if servers, err = keys.Public(); err != nil {
		t.Fatal(err)
	}
	if seed, err = callout.NewOperator(); err != nil {
		t.Fatal(err)
	}
	if key, err = callout.OperatorOf(seed + "\n"); err != nil {
		t.Fatal(err)
	}
	return servers, seed, key
}

// asOperator starts a NATS that admits an operator, and returns a connection of theirs.
func asOperator(t *testing.T) *nats.Conn {
	t.Helper()
	public, seed, key := operator(t)
	conf, err := callout.Configure(embedded.DefaultConf, public, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := embedded.Start(embedded.Config{ConfigFile: file, StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown() })
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(srv.ClientURL(), nats.Nkey(key, pair.Sign), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Nobody answers for executors here: an operator is admitted without.
func TestAnOperatorMayReportOnServersAndAskToRemoveThemAndDoNothingElse(t *testing.T) {
	nc := asOperator(t)
	report, err := nc.Request("$SYS.REQ.SERVER.PING.JSZ", nil, patience)
	if err != nil || !strings.Contains(string(report.Data), `"memory"`) {
		t.Fatalf("%v", err)
	}
	// refused returns what NATS says of what was sent last.
	refused := func() string {
		if err := nc.FlushTimeout(patience); err != nil {
			t.Fatal(err)
		}
		if err := nc.LastError(); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, subject := range []string{"$SYS.REQ.SERVER.PING", "$SYS.REQ.SERVER.PING.VARZ", "$SYS.REQ.SERVER.PING.HEALTHZ", "$JS.API.SERVER.REMOVE", "$JS.API.META.LEADER.STEPDOWN"} {
		if err := nc.Publish(subject, nil); err != nil || refused() != "" {
			t.Errorf("%s: %v, %s", subject, err, refused())
		}
	}
	for _, subject := range []string{
		"$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.SERVER.PING.SUBSZ", "$SYS.REQ.SERVER.PING.PROFILEZ", "$SYS.REQ.SERVER.ID.CONNZ", // have secret subjects
		"$SYS.REQ.SERVER.ID.KICK", "$SYS.REQ.SERVER.ID.RELOAD", "$SYS.REQ.CLAIMS.UPDATE", "$JS.API.STREAM.DELETE.TRIG", "$JS.API.ACCOUNT.PURGE.CARILLON",
	} {
		if err := nc.Publish(subject, nil); err != nil || !strings.Contains(refused(), fmt.Sprintf("%q", subject)) {
			t.Errorf("an operator may publish to %s: %v, %s", subject, err, refused())
		}
	}
	const heard = "$SYS.ACCOUNT.>"
	if _, err := nc.SubscribeSync(heard); err != nil || !strings.Contains(refused(), fmt.Sprintf("%q", heard)) {
		t.Errorf("an operator hears of all connections: %v, %s", err, refused())
	}
}

func TestTheKeyOfAnOperatorIsThatOfAUser(t *testing.T) {
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	other, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "SU", string(other)} {
		if key, err := callout.OperatorOf(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %s, %v", text, key, err)
		}
	}
}

func TestAnOperatorHasAKeyOfTheirOwn(t *testing.T) {
	public, _, key := operator(t)
	for _, operators := range [][]string{{public.Server}, {public.System}, {key, key}} {
		if _, err := callout.Configure(embedded.DefaultConf, public, operators...); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%v: %v", operators, err)
		}
	}
}
