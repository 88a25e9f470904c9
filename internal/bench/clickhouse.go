package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// storeWorld is a bench's world with databases of its own in a ClickHouse.
type storeWorld struct {
	*benchWorld

	address string   // of the ClickHouse
	made    []string // databases, which its end drops
	own     string   // the address of the first of them
	store   *clickhouse.Store
}

func newStoreWorld(ctx context.Context, address string) (w *storeWorld, err error) {
	w = &storeWorld{address: address}
	defer func() {
		if err != nil {
			w.close(ctx)
		}
	}()
	if w.benchWorld, err = newBenchWorld(ctx, 0); err != nil {
		return w, err
	}
	if w.own, err = w.database(); err != nil {
		return w, err
	}
	w.store, err = openBenchStore(ctx, w.own)
	return w, err
}

// database returns the address of a database that there is not yet.
func (w *storeWorld) database() (string, error) {
	u, err := url.Parse(w.address)
	if err != nil || u.Scheme != "clickhouse" {
		return "", cli.Usage(errors.New("--store must be clickhouse://USER:PASSWORD@HOST"))
	}
	name := "bench_" + strings.ToLower(rand.Text())
	w.made = append(w.made, name)
	u.Path = "/" + name
	return u.String(), nil
}

// dropped drops the databases that were made.
func (w *storeWorld) dropped(ctx context.Context) error {
	conn, err := openBenchConn(w.address)
	if err != nil {
		return err
	}
	for _, name := range w.made {
		err = errors.Join(err, conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" SYNC"))
	}
	return errors.Join(err, conn.Close())
}

// close ends what has begun, also of a bench that was interrupted.
func (w *storeWorld) close(ctx context.Context) {
	if w.store != nil {
		_ = w.store.Close()
	}
	_ = w.dropped(context.WithoutCancel(ctx))
	if w.benchWorld != nil {
		w.benchWorld.close()
	}
}

func openBenchStore(ctx context.Context, address string) (*clickhouse.Store, error) {
	store, err := clickhouse.Open(address, clickhouse.Config{})
	if err != nil {
		return nil, err
	}
	return store, store.Prepare(ctx)
}

// openBenchConn connects past the store.
func openBenchConn(address string) (driver.Conn, error) {
	options, err := ch.ParseDSN(address)
	if err != nil {
		return nil, err
	}
	options.Compression = &ch.Compression{Method: ch.CompressionLZ4}
	return ch.Open(options)
}
