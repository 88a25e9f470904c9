package bus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAnAddressKeepsItsSecretOutOfWhatIsShown(t *testing.T) {
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: "g", Instance: "a", Protocol: fleet.Protocol}}
	to := beat.Address()
	if got := to.Subject(bus.VerbKill); got != "exec.g.a-"+beat.ControlSecret+".kill" {
		t.Errorf("subject %q", got)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "to", to, "instance", beat.Instance)
	data, err := json.Marshal(map[string]any{"to": to, "instance": beat.Instance})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(to), fmt.Sprintf("%+v %#v", to, to), logged.String(), string(data)} {
		if strings.Contains(shown, beat.ControlSecret) {
			t.Errorf("shown: %s", shown)
		}
	}
	if bus.NewControlSecret() == beat.ControlSecret {
		t.Error("two starts have the same secret")
	}
}

func TestAHeartbeatIsOneThatTheInstanceOfThatNameWouldWrite(t *testing.T) {
	read := func(key string, change func(*bus.Heartbeat)) error {
		h := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: "g", Instance: "a", Protocol: fleet.Protocol}}
		change(&h)
		data, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bus.ParseHeartbeat(key, data)
		return err
	}
	if err := read("g.a", func(*bus.Heartbeat) {}); err != nil {
		t.Error(err)
	}
	refused := func(key string, change func(*bus.Heartbeat)) {
		t.Helper()
		if err := read(key, change); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%s: %v", key, err)
		}
	}
	refused("h.a", func(*bus.Heartbeat) {})
	refused("g.b", func(*bus.Heartbeat) {})
	refused("g.a b", func(h *bus.Heartbeat) { h.Instance.Instance = "a b" })
	for _, secret := range []string{"", "short", strings.Repeat("x", 65), "K7MZQ2XWVN4BTRJDS5LCHYG.FE", "K7MZQ2XWVN4BTRJDS5LCHYG*FE", "K7MZQ2XWVN4BTRJDS5LCHYG FE"} {
		refused("g.a", func(h *bus.Heartbeat) { h.ControlSecret = secret })
	}
	if _, err := bus.ParseHeartbeat("g.a", []byte("{")); !errors.Is(err, job.ErrInvalid) {
		t.Error(err)
	}
}

func TestARequestSaysThatItIsOne(t *testing.T) {
	check := func(want bool, h nats.Header) {
		t.Helper()
		if err := bus.CheckRequest(&nats.Msg{Header: h}); (err == nil) != want {
			t.Errorf("%v: %v", h, err)
		}
	}
	check(true, nats.Header{bus.HeaderMessage: {bus.MessageRequest}, "Traceparent": {"00-1"}, "Nats-Request-Info": {`{"acc":"CARILLON"}`}})
	check(false, nil)
	check(false, nats.Header{bus.HeaderMessage: {bus.MessageTrigger}})
	check(false, nats.Header{bus.HeaderMessage: {bus.MessageRequest}, "Nats-Stream": {"LOG"}})
	check(false, nats.Header{bus.HeaderMessage: {bus.MessageRequest}, "nats-sequence": {"1"}})
}
