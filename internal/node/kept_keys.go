package node

import (
	"errors"
	"fmt"
	"os"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/job"
)

// ReadNATSKeys reads keys from a file, or from the environment when none is named; nil
// when there is neither.
func ReadNATSKeys(file string) (*callout.Keys, error) {
	text, err := keyfile.Read(file, keyfile.NATSKeysVariable)
	if err != nil || text == "" && file == "" {
		return nil, err
	}
	keys, err := callout.ParseKeys(text)
	if err != nil {
		return nil, &job.InvalidError{Field: "nats-keys", Reason: err.Error()}
	}
	return &keys, nil
}

// keptNATSKeys returns the keys in a file, which are made when it is not there.
func keptNATSKeys(file string) (*callout.Keys, error) {
	if keys, err := ReadNATSKeys(file); !errors.Is(err, os.ErrNotExist) {
		return keys, err
	}
	keys, err := callout.NewKeys()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(keys.Text()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep keys for NATS: %w", err)
	}
	return &keys, nil
}

// keptMasterKey returns the master key in a file, which is made when it is not there.
func keptMasterKey(file string) (*seal.Master, error) {
	data, err := os.ReadFile(file) //nolint:gosec // in the data directory
	if errors.Is(err, os.ErrNotExist) {
		master := seal.NewMaster()
		if err := os.WriteFile(file, []byte(master.Text()+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("keep master key: %w", err)
		}
		return master, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	master, err := seal.ParseMaster(string(data))
	if err != nil {
		return nil, fmt.Errorf("read master key from %s: %w", file, err)
	}
	return master, nil
}
