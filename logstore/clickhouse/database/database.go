package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/job"
)

// The oldest server that will do: text indexes are sure since then.
const minMajor, minMinor = 26, 2

// Database is a database that an address names.
type Database struct {
	Name    string // the address without its password
	Layout  Layout
	Conn    driver.Conn
	options *clickhouse.Options
}

// Open does not connect. The error is job.ErrInvalid for an address that is wrong.
func Open(address string) (*Database, error) {
	options, l, err := Parse(address)
	if err != nil {
		return nil, err
	}
	d := &Database{Name: nameOf(address), Layout: l, options: options}
	if d.Conn, err = clickhouse.Open(options); err != nil {
		return nil, fmt.Errorf("open log store %s: %w", d.Name, err)
	}
	return d, nil
}

// Prepare makes the database and its tables, if they are missing. Before it changes any, it
// calls lock, and afterwards what lock returned. The error is job.ErrInvalid for a database
// of another schema.
func (d *Database) Prepare(ctx context.Context, lock func(context.Context) (unlock func(), err error)) error {
	if err := d.makeTables(ctx, lock); err != nil {
		return err
	}
	return d.indexText(ctx, lock)
}

// nameOf returns an address as it may be shown.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "clickhouse" // it may hold a password
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// create creates the database if it is missing, and refuses an old server.
func (d *Database) create(ctx context.Context) (err error) {
	options := *d.options
	options.Auth.Database = "default"
	conn, err := clickhouse.Open(&options)
	if err != nil {
		return fmt.Errorf("open log store %s: %w", d.Name, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	server, err := conn.ServerVersion()
	if err == nil {
		err = checkVersion(server.Version.Major, server.Version.Minor)
	}
	if err != nil {
		return fmt.Errorf("open log store %s: %w", d.Name, Explain(err))
	}
	var n uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.databases WHERE name = ?", d.Layout.Database).Scan(&n); err != nil {
		return fmt.Errorf("open log store %s: %w", d.Name, Explain(err))
	}
	if n > 0 { // whoever may not create databases may use one
		return nil
	}
	if err := conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+d.Layout.Database+" "+d.Layout.OnCluster()); err != nil {
		return fmt.Errorf("create database of log store %s: %w", d.Name, Explain(err))
	}
	return nil
}

func checkVersion(major, minor uint64) error {
	if major > minMajor || major == minMajor && minor >= minMinor {
		return nil
	}
	return fmt.Errorf("%w: its ClickHouse is %d.%d; %d.%d or newer is needed", job.ErrInvalid, major, minor, minMajor, minMinor)
}
