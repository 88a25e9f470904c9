package bench

import (
	"context"
	"path/filepath"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// storeWorld is a bench's world with a ClickHouse of its own.
type storeWorld struct {
	*benchWorld

	db    *chserver.Server
	store *clickhouse.Store // the database "bench"
}

func newStoreWorld(ctx context.Context) (w *storeWorld, err error) {
	w = &storeWorld{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.benchWorld, err = newBenchWorld(ctx, 0); err != nil {
		return w, err
	}
	if w.db, err = chserver.Start(ctx, chserver.Config{Dir: filepath.Join(w.dir, "clickhouse")}); err != nil {
		return w, err
	}
	w.store, err = openBenchStore(ctx, w.db.URL("bench"))
	return w, err
}

// close ends what has begun.
func (w *storeWorld) close() {
	if w.store != nil {
		_ = w.store.Close()
	}
	if w.db != nil {
		w.db.Stop()
	}
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
