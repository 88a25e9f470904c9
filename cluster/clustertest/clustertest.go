// Package clustertest connects tests to a broker of bustest, as a server connects to NATS. A
// connection closes when its test ends. Its name is that of its partitions.
package clustertest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
)

// Connect returns a connection to a broker on which there need not be a cluster yet.
func Connect(t testing.TB, broker *bustest.Broker, name string) *cluster.Conn {
	t.Helper()
	return connect(t, broker, jet.Config{Name: name})
}

func connect(t testing.TB, broker *bustest.Broker, cfg jet.Config) *cluster.Conn {
	t.Helper()
	cfg.Options = []nats.Option{nats.InProcessServer(broker.Dialer(cfg.Name))}
	conn, err := cluster.Connect(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.NC.Close)
	return conn
}

// Setup connects, and sets up a cluster with so many shards, and with streams of the size that
// they have without configuration.
func Setup(t testing.TB, broker *bustest.Broker, name string, shards int) *cluster.Conn {
	t.Helper()
	return SetupAs(t, broker, name, cluster.Assets{Shards: shards})
}

// SetupPatient is Setup for tests outside of a bubble: a busy machine may take longer to answer than
// servers wait for JetStream.
func SetupPatient(t testing.TB, broker *bustest.Broker, name string, shards int) *cluster.Conn {
	t.Helper()
	conn := connect(t, broker, jet.Config{Name: name, Wait: time.Minute})
	if err := conn.Setup(t.Context(), cluster.Assets{Shards: shards}); err != nil {
		t.Fatal(err)
	}
	return conn
}

// SetupAs is Setup with other streams.
func SetupAs(t testing.TB, broker *bustest.Broker, name string, assets cluster.Assets) *cluster.Conn {
	t.Helper()
	conn := Connect(t, broker, name)
	if err := conn.Setup(t.Context(), assets); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Open connects to a cluster that has been set up.
func Open(t testing.TB, broker *bustest.Broker, name string) *cluster.Conn {
	t.Helper()
	conn := Connect(t, broker, name)
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn
}
