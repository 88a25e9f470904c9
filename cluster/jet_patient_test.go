package cluster_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAPatientScanGoesOnWhereItWasWhenNATSIsSilentForAWhile(t *testing.T) {
	inCluster(t, func(w *world) {
		const n = 2500
		for i := range n {
			if _, err := w.conn.JS.Publish(w.t.Context(), "evt.0.g", []byte(strconv.Itoa(i))); err != nil {
				w.t.Fatal(err)
			}
		}
		slow := w.connect("slow")
		seen := 0
		err := slow.Read(w.t.Context(), jet.Reading{Stream: bus.StreamEvt, Filter: "evt.>", Patient: true}, func(m *jet.Stored) bool {
			if string(m.Data) != strconv.Itoa(seen) {
				w.t.Fatalf("message %d comes after %d others", m.Seq, seen)
			}
			if seen++; seen == n/2 {
				w.broker.Partition("slow")
				time.AfterFunc(25*time.Second, func() { w.broker.Heal("slow") })
			}
			return true
		})
		if err != nil || seen != n {
			w.t.Errorf("%d of %d came: %v", seen, n, err)
		}
		w.broker.Partition("slow")
		began := time.Now()
		err = slow.Read(w.t.Context(), jet.Reading{Stream: bus.StreamEvt, Filter: "evt.>", Patient: true}, func(*jet.Stored) bool { return true })
		if !errors.Is(err, job.ErrUnavailable) || !strings.Contains(err.Error(), "NATS did not answer for 3") || !strings.Contains(err.Error(), bus.StreamEvt) {
			w.t.Errorf("%v", err)
		}
		if took := time.Since(began); took < 30*time.Second || took > 45*time.Second {
			w.t.Errorf("it gave up after %s", took)
		}
	})
}
