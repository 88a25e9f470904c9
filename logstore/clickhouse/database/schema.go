package database

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// schema is the template of the statements that make the tables.
//
//go:embed schema.sql
var schema string

// schemaVersion is the version of schema.
const schemaVersion = 1

// schemaChecksum is of the template: what it makes depends on the layout.
func schemaChecksum() string {
	sum := sha256.Sum256([]byte(schema))
	return hex.EncodeToString(sum[:])
}

// statements returns those that make the tables on servers of a layout.
func statements(l Layout) ([]string, error) {
	t, err := template.New("schema.sql").Parse(schema)
	if err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, l); err != nil {
		return nil, fmt.Errorf("render schema: %w", err)
	}
	var all []string
	for s := range strings.SplitSeq(b.String(), ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all, nil
}

// makeTables creates the database and its tables, if they are missing.
func (d *Database) makeTables(ctx context.Context, lock func(context.Context) (unlock func(), err error)) error {
	if err := d.create(ctx); err != nil {
		return err
	}
	made, err := d.made(ctx)
	if err != nil {
		return err
	}
	if made {
		if _, err := d.Identity(ctx); !errors.Is(err, job.ErrNotFound) {
			return err
		}
	}
	unlock, err := lock(ctx)
	if err != nil {
		return fmt.Errorf("lock schema of %s: %w", d.Name, err)
	}
	defer unlock()
	if made, err = d.made(ctx); err != nil {
		return err
	}
	if !made {
		if err := d.runSchema(ctx); err != nil {
			return err
		}
	}
	return d.identify(ctx)
}

// runSchema makes the tables, or the rest of them where another program was interrupted, and
// records that they are there.
func (d *Database) runSchema(ctx context.Context) error {
	all, err := statements(d.Layout)
	if err != nil {
		return err
	}
	for i, statement := range all {
		if err := d.Conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("make tables of %s, statement %d: %w", d.Name, i+1, Explain(err))
		}
	}
	err = d.Conn.Exec(ctx, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)", uint32(schemaVersion), "schema.sql", schemaChecksum(), time.Now().UTC())
	if err != nil {
		return fmt.Errorf("record the schema of %s: %w", d.Name, Explain(err))
	}
	return nil
}

// made reports whether the tables are there. The error is job.ErrInvalid for tables of another schema.
func (d *Database) made(ctx context.Context) (made bool, err error) {
	err = d.Conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS schema_migrations %s (version UInt32, name String, checksum String, applied_at DateTime('UTC')) ENGINE = %s ORDER BY version",
		d.Layout.OnCluster(), d.Layout.Everywhere("ReplacingMergeTree", "applied_at")))
	if err != nil {
		return false, fmt.Errorf("create table of migrations in %s: %w", d.Name, Explain(err))
	}
	rows, err := d.Conn.Query(ctx, "SELECT version, checksum FROM schema_migrations WHERE version != ? ORDER BY version DESC", uint32(identityVersion))
	if err != nil {
		return false, fmt.Errorf("read migrations of %s: %w", d.Name, Explain(err))
	}
	defer func() { _ = rows.Close() }()
	for ; rows.Next(); made = true {
		var version uint32
		var checksum string
		if err := rows.Scan(&version, &checksum); err != nil {
			return false, fmt.Errorf("read migrations of %s: %w", d.Name, err)
		}
		if version != schemaVersion {
			return false, fmt.Errorf("%w: the log store %s has schema version %d, and this program understands only %d; use the program that made it, or another database",
				job.ErrInvalid, d.Name, version, schemaVersion)
		}
		if checksum != schemaChecksum() {
			return false, fmt.Errorf("%w: the log store %s was made by another schema of version %d than this program's; use the program that made it, or another database",
				job.ErrInvalid, d.Name, version)
		}
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("read migrations of %s: %w", d.Name, Explain(err))
	}
	return made, nil
}
