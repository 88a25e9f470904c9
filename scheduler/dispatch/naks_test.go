package dispatch

import (
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestEachDeliveryThatWasGivenBackIsRemembered(t *testing.T) {
	at := bus.Position{Stream: bus.StreamTrig, Seq: 1}
	var n naks
	for _, delivery := range []int{1, 2, 4, 7, 6, 90} { // 3 and 5 were not given back, 6 is heard late
		n.note(at, delivery)
	}
	for delivery, want := range map[int]bool{1: true, 2: true, 3: false, 5: false, 89: false, 90: true, 91: false} {
		if got := n.gaveBack(at, delivery); got != want {
			t.Errorf("delivery %d was given back: %t, want %t", delivery, got, want)
		}
	}
	n.note(at, 91)
	n.note(at, 30)
	for delivery, want := range map[int]bool{30: true, 31: false, 90: true, 91: true} {
		if got := n.gaveBack(at, delivery); got != want {
			t.Errorf("then delivery %d was given back: %t, want %t", delivery, got, want)
		}
	}
}
