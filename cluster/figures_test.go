package cluster_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

func TestAValueThatThisVersionCannotReadIsLeftOut(t *testing.T) {
	inCluster(t, func(w *world) {
		t, conn := w.t, w.conn
		for _, group := range []string{"billing", "ops"} {
			if err := conn.Refusals().Put(t.Context(), cluster.Refusal{Group: group, Until: time.Now().Add(time.Minute)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conn.JS.Publish(t.Context(), "$KV."+bus.BucketCluster+".refused.billing", []byte("{")); err != nil {
			t.Fatal(err)
		}
		refusals, err := conn.Refusals().All(t.Context())
		if err != nil || len(refusals) != 1 || refusals[0].Group != "ops" {
			t.Errorf("refusals %+v, error %v; want that of ops alone", refusals, err)
		}
	})
}
