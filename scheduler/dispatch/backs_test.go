package dispatch

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// Servers of earlier versions name no stream. They have only one.
func TestATriggerThatAnOlderServerHandsBackNeedsNoJudgement(t *testing.T) {
	g := &group{name: "g"}
	d := &Dispatcher{groups: map[string]*group{"g": g}}
	d.hearBack(&nats.Msg{Subject: bus.SubjectBack("g"), Data: []byte(`{"seq":7,"delivery":1}`)})
	if !g.backs.gaveBack(&offer{at: bus.Position{Stream: bus.StreamTrig, Seq: 7}, delivery: 2}) {
		t.Error("what an older server hands back is not known here")
	}
	d.hearBack(&nats.Msg{Subject: bus.SubjectBack("g"), Data: []byte(`{"stream":"TRIG1","seq":7,"delivery":1}`)})
	if g.backs.gaveBack(&offer{at: bus.Position{Stream: bus.StreamTrig, Seq: 7}, delivery: 2}) {
		t.Error("what is handed back on another stream counts")
	}
}
