package file

import (
	"path/filepath"
	"testing"
)

func TestWriterSyncsEachCommit(t *testing.T) {
	db, err := OpenWriter(filepath.Join(t.TempDir(), "log.db"), 1024, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var journal string
	if err := db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&journal); err != nil || journal != "wal" {
		t.Errorf("journal mode %q, error %v; want wal", journal, err)
	}
	const full = 2
	var synchronous int
	if err := db.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != full {
		t.Errorf("synchronous is %d, error %v; want %d: events are acknowledged once their runs are committed", synchronous, err, full)
	}
}
