package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestOneLogStoreKeepsTheHistoryOfACluster(t *testing.T) {
	inCluster(t, func(w *world) {
		bind := func(store, node string) error {
			return w.conn.Stores().Bind(w.t.Context(), cluster.History{Store: store, Node: node, Host: "alpha", Since: time.Now()})
		}
		for _, node := range []string{"n1", "n2", "n1"} {
			if err := bind("first", node); err != nil {
				t.Errorf("%s: %v", node, err)
			}
		}
		err := bind("second", "n3")
		if !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "server n1 on host alpha") {
			t.Errorf("a second store: %v", err)
		}
		if err := w.conn.Stores().Release(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := bind("second", "n3"); err != nil {
			t.Errorf("after its release: %v", err)
		}
		if err := bind("first", "n1"); !errors.Is(err, job.ErrConflict) {
			t.Errorf("the first store: %v", err)
		}
	})
}
