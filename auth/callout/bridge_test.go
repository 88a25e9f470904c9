package callout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Each group's bridges keep the addresses, tokens and parameters of their executors in one bucket.
func TestTheCredentialOfABridgeIsGoodForItsGroupsOnly(t *testing.T) {
	w := newWorld(t)
	w.serve()
	w.run(w.conn.Bridges().Serve)
	for _, group := range []string{"alpha", "beta", "gamma"} {
		_, err := state.New(w.conn.Conn).PutInstance(t.Context(), &state.Instance{Group: group, Instance: "i", Address: "http://h:1", Secret: "secret"}, 0)
		w.check(err)
	}
	_, seed, err := w.users.Credentials().CreateForBridge(t.Context(), "alpha", []string{"alpha", "gamma"}, "bridge", "ann", 0)
	w.check(err)
	refused := make(chan error, 100)
	conn := w.connect(seed, "alpha", nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))

	own := state.New(conn.Conn, "alpha", "gamma")
	heard := map[string]uint64{}
	w.check(own.Tail().Poll(t.Context(), func(c state.Change) { heard[c.Instance.Key()] = c.Revision }))
	if len(heard) != 2 || heard["alpha.i"] == 0 || heard["gamma.i"] == 0 {
		t.Fatalf("the bridge hears of %v", heard)
	}
	revision, err := own.PutInstance(t.Context(), &state.Instance{Group: "gamma", Instance: "i", Address: "http://h:1"}, heard["gamma.i"])
	w.check(err)
	f := state.Fence{Group: "gamma", Instance: "i", Revision: revision}
	w.check(own.PutRun(t.Context(), &state.Run{LogID: 1, Trigger: &bus.Trigger{Job: "gamma/report"}}, f))
	if live, err := own.Runs(t.Context(), f); err != nil || len(live) != 1 {
		t.Errorf("runs %+v, %v", live, err)
	}
	select {
	case err := <-refused:
		t.Fatal(err)
	default:
	}

	const stream = "KV_" + bus.BucketXXLJob
	key := "$KV." + bus.BucketXXLJob + ".beta.fleet.inst.i"
	for _, attack := range []struct{ subject, body string }{
		{key, `{"group":"beta","instance":"i","address":"http://127.0.0.1:1"}`},
		{"$JS.API.DIRECT.GET." + stream + "." + key, ""},
		{"$JS.API.DIRECT.GET." + stream, `{"seq":1,"next_by_subj":"` + key + `"}`},
		{"$JS.API.DIRECT.GET." + stream, `{"multi_last":["` + key + `"]}`},
		{"$JS.API.DIRECT.GET." + stream + ".$KV." + bus.BucketXXLJob + ".>", ""},
		{"$JS.API.STREAM.MSG.GET." + stream, `{"last_by_subj":"` + key + `"}`},
		{"$JS.API.CONSUMER.CREATE." + stream, `{}`},
		{bus.SubjectBridge("beta"), `{"filter":"fleet.>"}`},
		{bus.SubjectBridge("*"), `{"filter":"fleet.>"}`},
	} {
		m := &nats.Msg{Subject: attack.subject, Data: []byte(attack.body), Reply: bus.ExecutorInbox("alpha") + ".x"}
		w.check(conn.NC.PublishMsg(m))
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", attack.subject, err)
			}
		case <-time.After(patience):
			t.Errorf("%s is allowed", attack.subject)
		}
	}
	// What its own subject asks for is of its own group, whatever the filter is.
	for _, filter := range []string{">", "*.>", "fleet.inst.i", "..beta.>", ".beta.fleet.inst.i", "fleet.>\r\n"} {
		answer, err := conn.NC.Request(bus.SubjectBridge("alpha"), []byte(`{"filter":"`+filter+`"}`), patience)
		w.check(err)
		page, err := bus.DecodeBridgePage(answer.Data)
		if err != nil {
			continue
		}
		for _, e := range page.Entries {
			if e.Sequence != heard["alpha.i"] {
				t.Errorf("%q brings %+v", filter, e)
			}
		}
	}
	if i, is, err := state.New(w.conn.Conn).Instance(t.Context(), "beta", "i"); err != nil || i.Secret != "secret" || is == 0 {
		t.Errorf("beta has %+v, %v", i, err)
	}
}

func TestABridgeFindsTheGroupsThatItsCredentialLacks(t *testing.T) {
	w := newWorld(t)
	w.serve()
	_, bridge, err := w.users.Credentials().CreateForBridge(t.Context(), "alpha", []string{"alpha", "gamma"}, "bridge", "ann", 0)
	w.check(err)
	_, executor, err := w.users.Credentials().Create(t.Context(), "alpha", "executor", "ann", 0)
	w.check(err)
	const bridges = "alpha,gamma"
	for _, c := range []struct{ name, seed, groups, lacks string }{
		{"all of them", bridge, bridges, ""},
		{"one of them", bridge, "gamma", ""},
		{"without credential", w.keys.Server, "alpha,beta", ""},
		{"one more", bridge, "gamma,beta,alpha", "beta"},
		{"other groups", bridge, "beta,delta", "beta, delta"},
		{"the start of a group's name", bridge, "alpha,alph,gam", "alph, gam"},
		{"the credential of an executor", executor, "alpha", "alpha"},
	} {
		t.Run(c.name, func(t *testing.T) {
			groups := strings.Split(c.groups, ",")
			conn := w.connect(c.seed, groups[0])
			for range 2 { // a bridge may be started again
				err := state.New(conn.Conn, groups...).CheckCredential(t.Context())
				invalid := (*job.InvalidError)(nil)
				switch {
				case c.lacks == "" && err != nil:
					t.Fatal(err)
				case c.lacks == "":
				case !errors.As(err, &invalid) || invalid.Field != "groups" || !strings.Contains(invalid.Reason, "does not cover "+c.lacks+":"):
					t.Fatalf("got %v, want an error that names %s", err, c.lacks)
				}
			}
		})
	}
}
