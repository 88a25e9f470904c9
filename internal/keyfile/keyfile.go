package keyfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// The variables of the environment that have a key where no file of one is named. Each has the
// key itself.
const (
	MasterKeyVariable  = "CARILLON_MASTER_KEY" // of servers, for secrets
	SecretKeyVariable  = "CARILLON_SECRET_KEY" // of executors, for the secrets of their group
	NATSKeysVariable   = "CARILLON_NATS_KEYS"  // of servers, for NATS
	CredentialVariable = "CARILLON_CREDENTIAL" //nolint:gosec // its name, of executors, for NATS
)

// Read reads a key from a file, or from a variable when none is named; "" when there
// is neither. The variable is taken out of the environment, which child processes get.
func Read(file, variable string) (string, error) {
	if file == "" {
		text := os.Getenv(variable)
		return text, os.Unsetenv(variable)
	}
	if inherited := descriptorOf(file); inherited != nil {
		return readInherited(inherited)
	}
	data, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", nameOf(variable), err)
	case strings.TrimSpace(string(data)) == "":
		return "", fmt.Errorf("read %s: file %s is empty", nameOf(variable), file)
	}
	return string(data), nil
}

// nameOf returns the name of the key that a variable holds, such as "secret key".
func nameOf(variable string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "CARILLON_"), "_", " "))
}

// descriptorOf returns the descriptor that the name of a key's file stands for: "-" is
// standard input, "fd:3" is 3. It returns nil for any other name.
func descriptorOf(name string) *os.File {
	if name == "-" {
		return os.Stdin
	}
	number, ok := strings.CutPrefix(name, "fd:")
	fd, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

// maxKeyText bounds what is read as a key.
const maxKeyText = 4096

// readInherited reads a key and closes its descriptor, so that no child gets it.
func readInherited(f *os.File) (_ string, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyText))
	if err != nil {
		return "", fmt.Errorf("read key from %s: %w", f.Name(), err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", &job.InvalidError{Field: "key", Reason: fmt.Sprintf("from %s is empty", f.Name())}
	}
	return string(data), nil
}
