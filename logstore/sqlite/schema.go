package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
)

//go:embed schema.sql
var schemaV1 string

//go:embed schema2.sql
var schemaV2 string

//go:embed schema3.sql
var schemaV3 string

//go:embed schema4.sql
var schemaV4 string

//go:embed schema5.sql
var schemaV5 string

//go:embed schema6.sql
var schemaV6 string

//go:embed schema7.sql
var schemaV7 string

//go:embed schema8.sql
var schemaV8 string

//go:embed schema9.sql
var schemaV9 string

//go:embed schema10.sql
var schemaV10 string

//go:embed schema11.sql
var schemaV11 string

//go:embed schema12.sql
var schemaV12 string

// migrations lead from each version of the schema to the next: the first makes a
// new file version 1. Those that were released never change.
var migrations = []string{schemaV1, schemaV2, schemaV3, schemaV4, schemaV5, schemaV6, schemaV7, schemaV8, schemaV9, schemaV10, schemaV11, schemaV12}

// versionOfFiles is the first version in which log lines have files of their own.
const versionOfFiles = 3

// migrate brings the file up to date. A file of a newer program is refused and left
// as it is. move is called while the file still has log lines.
func migrate(ctx context.Context, conn *sql.Conn, path string, move func() error) error {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read schema version of %s: %w", path, err)
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: the log store %s has schema version %d, and this program understands up to %d; use the newer program, or another file",
			job.ErrInvalid, path, version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		if version+1 == versionOfFiles {
			if err := move(); err != nil {
				return err
			}
		}
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", migrations[version], version+1)
		if _, err := conn.ExecContext(ctx, script); err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("bring log store %s to schema version %d: %w", path, version+1, err)
		}
	}
	return nil
}
