package bus_test

import (
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestShardsTakeTurnsToBelongToPartitions(t *testing.T) {
	for _, n := range []bus.Partitions{0, 1} {
		if n.Count() != 1 || n.Of(17) != 0 || n.TrigOf(17) != "TRIG" || n.EvtOf(17) != "EVT" || !slices.Equal(n.Trigs(), []string{"TRIG"}) || !slices.Equal(n.Evts(), []string{"EVT"}) {
			t.Errorf("%d partitions: %d, of shard 17 %s and %s, in all %v and %v", n, n.Count(), n.TrigOf(17), n.EvtOf(17), n.Trigs(), n.Evts())
		}
	}
	three := bus.Partitions(3)
	for shard, want := range []string{"TRIG", "TRIG1", "TRIG2", "TRIG"} {
		if got := three.TrigOf(shard); got != want {
			t.Errorf("the triggers of shard %d of three partitions are in %s, want %s", shard, got, want)
		}
	}
	if got, want := three.Evts(), []string{"EVT", "EVT1", "EVT2"}; !slices.Equal(got, want) {
		t.Errorf("three partitions have %v, want %v", got, want)
	}
}

func TestTheNameOfAStreamHasItsPartition(t *testing.T) {
	n := bus.Partitions(bus.MaxPartitions)
	for p := range n.Count() {
		if kind, got, ok := bus.ParseStream(n.Trig(p)); kind != bus.StreamTrig || got != p || !ok {
			t.Errorf("%s: %s %d %t", n.Trig(p), kind, got, ok)
		}
		if kind, got, ok := bus.ParseStream(n.Evt(p)); kind != bus.StreamEvt || got != p || !ok {
			t.Errorf("%s: %s %d %t", n.Evt(p), kind, got, ok)
		}
	}
	for _, name := range []string{"", "LOG", "TRIG0", "TRIG01", "TRIG+1", "TRIG-1", "TRIG16", "EVTS", "1", "TRIG.1", "KV_TRIG"} {
		if kind, p, ok := bus.ParseStream(name); ok {
			t.Errorf("%q is %s of partition %d", name, kind, p)
		}
	}
}

func TestATriggerIsNamedByItsStreamAndSequence(t *testing.T) {
	at, delivery, err := bus.ParseAck("$JS.ACK.TRIG2.any-mail.3.17.5.1700000000.0", "mail")
	if want := (bus.Position{Stream: "TRIG2", Seq: 17}); err != nil || at != want || delivery != 3 {
		t.Errorf("%+v, delivery %d, %v; want %+v", at, delivery, err, want)
	}
	for _, subject := range []string{
		"$JS.ACK.EVT.any-mail.3.17.5.1700000000.0", "$JS.ACK.TRIG16.any-mail.3.17.5.1700000000.0", "$JS.ACK.TRIG2.any-pay.3.17.5.1700000000.0",
		"$JS.ACK.TRIG2.route-mail.3.17.5.1700000000.0", "$JS.ACK.KV_TRIG.any-mail.3.17.5.1700000000.0", "$JS.ACK.TRIG2.any-mail.3.0.5.1700000000.0",
	} {
		if at, _, err := bus.ParseAck(subject, "mail"); err == nil {
			t.Errorf("%s is about %+v", subject, at)
		}
	}
	advisory := []byte(`{"stream_seq": 17, "deliveries": 3}`)
	group, at, delivery := bus.ParseNakAdvisory("$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED.TRIG2.any-mail", advisory)
	if want := (bus.Position{Stream: "TRIG2", Seq: 17}); group != "mail" || at != want || delivery != 3 {
		t.Errorf("%s %+v %d", group, at, delivery)
	}
	if group, _, _ := bus.ParseNakAdvisory("$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED.OTHER.any-mail", advisory); group != "" {
		t.Errorf("a stream that is not Carillon's has a trigger of group %s", group)
	}
}

func TestPermissionsOfExecutorsNameTheStreamsOfEachPartition(t *testing.T) {
	one, _ := bus.ExecutorPermissions("mail", 1)
	three, _ := bus.ExecutorPermissions("mail", 3)
	for _, want := range []string{"$JS.API.CONSUMER.MSG.NEXT.TRIG2.any-mail", "$JS.ACK.TRIG1.any-mail.>", "$JS.ACK.TRIG2.high-mail.>"} {
		if !slices.Contains(three, want) || slices.Contains(one, want) {
			t.Errorf("%s: is in a cluster with three partitions %t, with one %t", want, slices.Contains(three, want), slices.Contains(one, want))
		}
	}
	if len(three) != len(one)+2*5 {
		t.Errorf("%d permissions with three partitions, %d with one", len(three), len(one))
	}
}
