package file

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/carillon-scheduler/carillon/job"
)

// Readers is how many queries of a file run at once; more wait.
const Readers = 4

// ErrClosed is the error of a store that was closed.
var ErrClosed = fmt.Errorf("%w: the log store is closed", job.ErrUnavailable)

// Open opens a database for as many connections, each with the pragmas.
func Open(path string, conns int, pragmas ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+url.Values{"_pragma": pragmas}.Encode())
	if err != nil {
		return nil, fmt.Errorf("open log store %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// OpenWriter opens a database for the one connection that writes it. What it has committed
// outlives a loss of power: who asks for the write then forgets what it was about.
func OpenWriter(path string, cacheKiB, checkpointPages int) (*sql.DB, error) {
	return Open(path, 1, "journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)", "temp_store(MEMORY)",
		fmt.Sprintf("cache_size(-%d)", cacheKiB), fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages))
}

// Size returns what a database takes on disk; nothing, if it is gone.
func Size(path string) (bytes int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, fmt.Errorf("measure log store: %w", err)
		default:
			bytes += info.Size()
		}
	}
	return bytes, nil
}
