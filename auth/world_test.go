package auth

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job/rights"
)

var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

const password = "correct horse battery staple"

// world is a directory on a bus, in a bubble.
type world struct {
	*testing.T
	broker *bustest.Broker
	d      *Directory
}

func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, noon, func(t *testing.T) {
		w := &world{T: t, broker: bustest.NewBroker(t)}
		w.d = w.run(clustertest.Setup(t, w.broker, "first", 1))
		f(w)
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) connect(name string) *cluster.Conn {
	w.Helper()
	return clustertest.Open(w, w.broker, name)
}

// run returns a directory that is kept up to date until the test ends.
func (w *world) run(conn *cluster.Conn) *Directory {
	d := NewDirectory(conn, nil)
	d.users.HashCheaply() // what a hash costs, a test of its own says
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	return d
}

// user creates a user with the password, and the access.
func (w *world) user(name string, access ...rights.Access) {
	w.Helper()
	_, _, err := w.d.Users().Put(w.Context(), name, UserEdit{Access: access})
	w.check(err)
	w.check(w.d.Users().SetPassword(w.Context(), name, password))
}
