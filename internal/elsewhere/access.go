package elsewhere

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/spool"
)

// Access is a server, and what is needed to send pings there. As a file, it is YAML.
type Access struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token"`
	CA     string `yaml:"ca"` // file of the authority that signed the server's certificate
}

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 64 << 10

// given returns the access of flags and of the environment, which is for all pings of this process.
func (a Access) given() Access {
	return Access{
		Server: cmp.Or(a.Server, os.Getenv("CARILLON_SERVER")),
		Token:  cmp.Or(a.Token, os.Getenv(TokenVariable)),
		CA:     cmp.Or(a.CA, os.Getenv("CARILLON_CA")),
	}
}

// completed returns an access with what it lacks from the first configuration file that there is. The token
// of a file goes to no other server than that of the file. fallback is the server if nothing names one.
func (a Access) completed(fallback string) (Access, error) {
	file, err := readConfig()
	if err != nil && (a.Server == "" || a.Token == "") {
		return a, err
	}
	if a.Server == "" || sameAddress(a.Server, file.Server) {
		a.Token = cmp.Or(a.Token, file.Token)
		a.CA = cmp.Or(a.CA, file.CA)
	}
	a.Server = cmp.Or(a.Server, file.Server, fallback)
	return a, nil
}

// of returns the server of an access.
func (a Access) of() (*ping.Server, error) { return ping.NewServer(a.Server, a.Token, a.CA) }

func sameAddress(a, b string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), "/") }
	return plain(a) == plain(b)
}

// readConfig reads the first configuration file that there is.
func readConfig() (Access, error) {
	for _, path := range configFiles() {
		f, err := os.Open(path) //nolint:gosec // the user's own file, or that of the machine
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Access{}, fmt.Errorf("read configuration: %w", err)
		}
		defer func() { _ = f.Close() }()
		var a Access
		data, err := io.ReadAll(io.LimitReader(f, maxConfig))
		if err != nil {
			return a, fmt.Errorf("read configuration: %w", err)
		}
		err = yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&a)
		if err != nil && !errors.Is(err, io.EOF) { // EOF: it is empty
			first, _, _ := strings.Cut(err.Error(), "\n") // the lines below quote the file, with its token
			return Access{}, fmt.Errorf("read configuration: %s: %s", path, first)
		}
		return a, nil
	}
	return Access{}, nil
}

// configFiles returns the files of the user and of the machine.
func configFiles() []string {
	var all []string
	for _, dir := range configFolders() {
		if dir != "" {
			all = append(all, filepath.Join(dir, "carillon", "watch.yaml"))
		}
	}
	return all
}

// accessOf returns where a ping of the spool goes: where it had to go, else where the files say now.
func accessOf(k *spool.Kept, fallback string) (Access, error) {
	return Access{Server: k.Server, Token: k.Token, CA: k.CA}.completed(fallback)
}
