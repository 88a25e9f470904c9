package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
)

// moveStreams takes streams along that were stored before nats.conf had accounts: they
// are in the folder of the account that a server without accounts has.
func moveStreams(opts *server.Options) error {
	for _, a := range opts.Accounts {
		if a.Name != "CARILLON" {
			continue
		}
		from, to := filepath.Join(opts.StoreDir, "jetstream", "$G"), filepath.Join(opts.StoreDir, "jetstream", a.Name)
		if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
			return nil // it is there, or the server will say what is wrong
		}
		if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("take streams along: %w", err)
		}
	}
	return nil
}
