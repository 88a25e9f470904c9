package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// identityVersion is the version of the row of schema_migrations that has the database's identity.
const identityVersion = 0

// Identity returns what tells the database from others. The error is job.ErrNotFound until
// [Database.Prepare] has given it one.
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
