package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
)

//go:embed schema.sql
var schema string

// schemaVersion is the version of schema.
const schemaVersion = 1

// prepare makes the tables of a new file. A file of another schema, or of another
// program, is refused and left as it is.
func prepare(ctx context.Context, conn *sql.Conn, path string) error {
	var version, tables int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read schema version of %s: %w", path, err)
	}
	if version == schemaVersion {
		return nil
	}
	if version != 0 {
		return fmt.Errorf("%w: the log store %s has schema version %d, and this program understands only %d; use the program that made it, or another file",
			job.ErrInvalid, path, version, schemaVersion)
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("list tables of %s: %w", path, err)
	}
	if tables > 0 {
		return fmt.Errorf("%w: the file %s has tables of another program; use another file", job.ErrInvalid, path)
	}
	script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", schema, schemaVersion)
	if _, err := conn.ExecContext(ctx, script); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return fmt.Errorf("make log store %s: %w", path, err)
	}
	return nil
}
