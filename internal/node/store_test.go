package node

import (
	"bytes"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// begun makes a node with a store of the given configuration, and closes it again.
func begun(t *testing.T, c nodeConfig) error {
	t.Helper()
	conn := clustertest.Setup(t, bustest.NewBroker(t), "server", 1)
	c.roles, c.node = []string{roleStore}, "n1"
	n, err := c.begin(t.Context(), "test", conn, nil, monitorOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return n.close(t.Context())
}

// newStore makes a log store in a folder, and returns the path of its file.
func newStore(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "history.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServerWhoseLogStoreCannotBeOpenedStatesTheReason(t *testing.T) {
	refused := func(name string, breakIt func(t *testing.T, dir string), want string) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			breakIt(t, dir)
			err := begun(t, nodeConfig{store: storeSQLite, data: dir})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("the error is %v; it must name the store in %s and contain %q", err, dir, want)
			}
		})
	}
	refused("newer schema", func(t *testing.T, dir string) {
		t.Helper()
		db, err := sql.Open("sqlite", newStore(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 9999"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}, "has schema version 9999, and this program understands only")
	refused("random bytes", func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, "history.db"), bytes.Repeat([]byte("no database "), 2000))
	}, "file is not a database")
	refused("damaged pages", func(t *testing.T, dir string) {
		t.Helper()
		path := newStore(t, dir)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 100; i < len(data); i++ { // all but the header
			data[i] = 0x5a
		}
		write(t, path, data)
	}, "malformed")
	refused("file is a folder", func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, "history.db"), 0o700); err != nil {
			t.Fatal(err)
		}
	}, "unable to open database file")
	refused("folder of lines is a file", func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, "history-logs"), nil)
	}, "not a directory")
	refused("data directory is a file", func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		write(t, dir, nil)
	}, "not a directory")
}

func TestAServerBeginsWithoutItsClickHouse(t *testing.T) {
	if err := begun(t, nodeConfig{store: "clickhouse://u:p@127.0.0.1:1/carillon?dial_timeout=100ms", data: t.TempDir()}); err != nil {
		t.Errorf("the error is %v; history waits on the bus", err)
	}
}

func TestAServerRefusesAWrongAddressOfItsLogStore(t *testing.T) {
	for _, store := range []string{"postgres://127.0.0.1/carillon", "clickhouse://u:p@127.0.0.1:1/"} {
		if err := begun(t, nodeConfig{store: store, data: t.TempDir()}); err == nil {
			t.Errorf("the server accepts --store %s", store)
		}
	}
}
