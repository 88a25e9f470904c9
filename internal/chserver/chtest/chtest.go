// Package chtest gives tests databases on a real ClickHouse: on the server that
// "task test:go" started for the whole run, or else on one that the test package starts
// for itself and that ends with it. Where ClickHouse is not installed, a test that needs it
// is skipped, unless all are needed (package needed): then it fails.
//
// TestMain of a package that uses it is
//
//	func TestMain(m *testing.M) { chtest.Main(m) }
package chtest

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/needed"
)

// Variable is the environment's address of a server for the tests of many packages.
const Variable = "CARILLON_TEST_CLICKHOUSE"

var (
	mu     sync.Mutex       // guards server and dir
	server *chserver.Server // of this package; nil until a test wants it
	dir    string
)

// Main runs a package's tests, and stops the server that they started.
func Main(m *testing.M) {
	chserver.ServeIfAsked()
	code := m.Run()
	stop()
	os.Exit(code)
}

func stop() {
	mu.Lock()
	defer mu.Unlock()
	if server != nil {
		server.Stop()
		_ = os.RemoveAll(dir)
	}
}

// Database returns the address of a new name for a database, which t's end drops if
// it was made.
func Database(t testing.TB) string {
	t.Helper()
	options, err := clickhouse.ParseDSN(address(t))
	if err != nil {
		t.Fatal(err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		conn, err := clickhouse.Open(options)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		// The test's own context has ended.
		if err := conn.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE IF EXISTS "+name+" SYNC"); err != nil {
			t.Error(err)
		}
	})
	return strings.TrimSuffix(address(t), options.Auth.Database) + name
}

// address returns that of the server, with its database "default".
func address(t testing.TB) string {
	t.Helper()
	if url := os.Getenv(Variable); url != "" {
		return url
	}
	mu.Lock()
	defer mu.Unlock()
	if server == nil {
		var err error
		if dir, err = os.MkdirTemp("", "carillon-clickhouse-"); err != nil { //nolint:usetesting // it outlives the test that comes first
			t.Fatal(err)
		}
		server = open(t, chserver.Config{Dir: dir})
	}
	return server.URL("default")
}

// Start starts a server of the test's own, which is killed at the test's end, before its folder is
// removed.
func Start(t testing.TB, cfg chserver.Config) *chserver.Server {
	t.Helper()
	s := open(t, cfg)
	t.Cleanup(s.Kill)
	return s
}

// open starts a server that outlives the test.
func open(t testing.TB, cfg chserver.Config) *chserver.Server {
	t.Helper()
	Need(t)
	s, err := chserver.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Need skips a test, or fails it, where ClickHouse is not installed.
func Need(t testing.TB) {
	t.Helper()
	switch err := chserver.Installed(t.Context()); {
	case err == nil:
	case errors.Is(err, chserver.ErrNoEngine) && !needed.All():
		t.Skipf("left out: %v", err)
	default:
		t.Fatal(err)
	}
}
