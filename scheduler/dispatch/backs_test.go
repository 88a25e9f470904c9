package dispatch

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestATriggerThatIsHandedBackOnAnotherStreamIsJudged(t *testing.T) {
	g := &group{name: "g"}
	d := &Dispatcher{groups: map[string]*group{"g": g}}
	gaveBack := func(stream string) bool {
		return g.backs.gaveBack(&offer{at: bus.Position{Stream: stream, Seq: 7}, delivery: 2})
	}
	d.hearBack(&nats.Msg{Subject: bus.SubjectBack("g"), Data: []byte(`{"stream":"TRIG1","seq":7,"delivery":1}`)})
	if gaveBack(bus.StreamTrig) {
		t.Error("what is handed back on another stream counts")
	}
	if !gaveBack("TRIG1") {
		t.Error("what another server hands back is not known here")
	}
}
