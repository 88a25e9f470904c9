package bench

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

func TestAHistoryIsCountedBeforeRunsAreMeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := (scale{history: 3000}).fill(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var runs, uncounted int
	if err := db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM ended)").Scan(&runs, &uncounted); err != nil {
		t.Fatal(err)
	}
	if runs < 3000 || uncounted > 0 {
		t.Errorf("of %d runs in the history, %d changes wait to be counted; want 3000 at least and none", runs, uncounted)
	}
}
