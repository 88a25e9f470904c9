package database

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// files are the migrations in the order of their names, which begin with their
// numbers from 1 on. Those that were released never change.
//
//go:embed migrations/*.sql
var files embed.FS

// Migration is a step from one version of the schema to the next.
type Migration struct {
	version  uint32
	name     string
	text     string // template
	checksum string // of the template: what it makes depends on the layout
}

// Migrations returns those that this program knows.
func Migrations() ([]Migration, error) {
	names, err := files.ReadDir("migrations")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]Migration, len(names))
	for i, f := range names {
		text, err := files.ReadFile(path.Join("migrations", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", f.Name(), err)
		}
		sum := sha256.Sum256(text)
		all[i] = Migration{version: uint32(i + 1), name: f.Name(), text: string(text), checksum: hex.EncodeToString(sum[:])}
	}
	return all, nil
}

// statements returns what a migration runs on servers of a layout.
func (m *Migration) statements(l Layout) ([]string, error) {
	t, err := template.New(m.name).Parse(m.text)
	if err != nil {
		return nil, fmt.Errorf("parse migration %s: %w", m.name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, l); err != nil {
		return nil, fmt.Errorf("render migration %s: %w", m.name, err)
	}
	var all []string
	for s := range strings.SplitSeq(b.String(), ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all, nil
}

// Migrate creates the database if it is missing, and runs what it lacks of the migrations
// that a program knows. The error is job.ErrInvalid for a database that a newer program has
// changed, or one whose migrations were others.
func (d *Database) Migrate(ctx context.Context, known []Migration, lock func(context.Context) (unlock func(), err error)) error {
	if err := d.create(ctx); err != nil {
		return err
	}
	due, err := d.due(ctx, known)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		if _, err := d.Identity(ctx); !errors.Is(err, job.ErrNotFound) {
			return err
		}
	}
	unlock, err := lock(ctx)
	if err != nil {
		return fmt.Errorf("lock schema of %s: %w", d.Name, err)
	}
	defer unlock()
	if due, err = d.due(ctx, known); err != nil {
		return err
	}
	for _, m := range due {
		statements, err := m.statements(d.Layout)
		if err != nil {
			return err
		}
		for i, statement := range statements {
			if err := d.Conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("apply migration %s to %s, statement %d: %w", m.name, d.Name, i+1, Explain(err))
			}
		}
		err = d.Conn.Exec(ctx, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)", m.version, m.name, m.checksum, time.Now().UTC())
		if err != nil {
			return fmt.Errorf("record migration %s of %s: %w", m.name, d.Name, Explain(err))
		}
	}
	return d.identify(ctx)
}

// identityVersion is the version of the row among the migrations that has the database's identity.
const identityVersion = 0

// Identity returns what tells the database from others. The error is job.ErrNotFound until
// [Database.Migrate] has given it one.
func (d *Database) Identity(ctx context.Context) (id string, err error) {
	err = d.Conn.QueryRow(ctx, "SELECT min(checksum) FROM schema_migrations WHERE version = ?", uint32(identityVersion)).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("read the identity of %s: %w", d.Name, Explain(err))
	}
	if id == "" {
		return "", fmt.Errorf("%w: %s has no identity yet", job.ErrNotFound, d.Name)
	}
	return id, nil
}

// identify gives the database an identity, if it has none.
func (d *Database) identify(ctx context.Context) error {
	if _, err := d.Identity(ctx); !errors.Is(err, job.ErrNotFound) {
		return err
	}
	return d.writeIdentity(ctx, "identity", rand.Text())
}

// writeIdentity writes the row that has the database's identity, in the place of an older one.
func (d *Database) writeIdentity(ctx context.Context, name, id string) error {
	err := d.Conn.Exec(ctx, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)", uint32(identityVersion), name, id, time.Now().UTC())
	if err != nil {
		return fmt.Errorf("record the identity of %s: %w", d.Name, Explain(err))
	}
	return nil
}

// copyOf begins the name of the row with the identity of a database that is a copy of another store.
const copyOf = "copy of "

// Origin returns the identity of the store that the database is a copy of, or nothing.
func (d *Database) Origin(ctx context.Context) (id string, err error) {
	err = d.Conn.QueryRow(ctx, "SELECT max(substring(name, length(?) + 1)) FROM schema_migrations WHERE version = ? AND startsWith(name, ?)", copyOf, uint32(identityVersion), copyOf).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("read of what %s is a copy: %w", d.Name, Explain(err))
	}
	return id, nil
}

// SetOrigin notes that the database, which has an identity, is a copy of another store.
func (d *Database) SetOrigin(ctx context.Context, origin string) error {
	id, err := d.Identity(ctx)
	if err != nil {
		return err
	}
	return d.writeIdentity(ctx, copyOf+origin, id)
}

// due returns the migrations that the database lacks.
func (d *Database) due(ctx context.Context, known []Migration) ([]Migration, error) {
	err := d.Conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS schema_migrations %s (version UInt32, name String, checksum String, applied_at DateTime('UTC')) ENGINE = %s ORDER BY version",
		d.Layout.OnCluster(), d.Layout.Everywhere("ReplacingMergeTree", "applied_at")))
	if err != nil {
		return nil, fmt.Errorf("create table of migrations in %s: %w", d.Name, Explain(err))
	}
	rows, err := d.Conn.Query(ctx, "SELECT version, checksum FROM schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations of %s: %w", d.Name, Explain(err))
	}
	defer func() { _ = rows.Close() }()
	due := slices.Clone(known)
	for rows.Next() {
		var version uint32
		var checksum string
		if err := rows.Scan(&version, &checksum); err != nil {
			return nil, fmt.Errorf("read migrations of %s: %w", d.Name, err)
		}
		if version == identityVersion {
			continue
		}
		if int(version) > len(known) {
			return nil, fmt.Errorf("%w: the log store %s has schema version %d, and this program understands up to %d; use the newer program, or another database",
				job.ErrInvalid, d.Name, version, len(known))
		}
		if m := known[version-1]; m.checksum != checksum {
			return nil, fmt.Errorf("%w: the log store %s was made with another %s than this program's; use the program that made it, or another database",
				job.ErrInvalid, d.Name, m.name)
		}
		due = slices.DeleteFunc(due, func(m Migration) bool { return m.version == version })
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read migrations of %s: %w", d.Name, Explain(err))
	}
	return due, nil
}
