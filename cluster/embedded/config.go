package embedded

import (
	_ "embed" // for DefaultConf
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// DefaultConf is the text of nats.conf, the configuration of the embedded server and of the
// servers in tests, so that all three are one. The file beside is a copy of the one at the root of
// the repository; a test there compares them.
//
//go:embed nats.conf
var DefaultConf string

// Config says where a server's configuration comes from and what overrides it.
// The zero value is the repository's nats.conf, unchanged.
type Config struct {
	// ConfigFile is the path of a nats.conf. Defaults to the repository's own,
	// which is built in.
	ConfigFile string

	// StoreDir is the directory of the streams, made if it is not there.
	// Defaults to the configuration's store_dir.
	StoreDir string

	// Listen is the address for clients, "host:port"; with port 0, any that is
	// free. Defaults to the configuration's.
	Listen string

	// InProcessOnly makes the server listen nowhere; only InProcessConn reaches
	// it. Defaults to false.
	InProcessOnly bool

	// Alone refuses a configuration that joins other servers. Defaults to false.
	Alone bool

	// ServerName is the server's name, unique in a cluster. Defaults to the
	// configuration's.
	ServerName string

	// Executors names the keys with which executors' credentials are checked, as
	// "carillon nats config" would write them; besides them, whoever the configuration
	// admits is admitted. The configuration must have the accounts of nats.conf.
	// Defaults to none: there are no credentials.
	Executors *Executors

	// MaxStore and MaxMemory bound what streams may take, in bytes. They default
	// to the configuration's.
	MaxStore, MaxMemory int64

	// Logger receives the server's own messages: what it calls notices at debug,
	// warnings and errors as such. Defaults to none.
	Logger *slog.Logger
}

// options reads the configuration and lays the overrides on it.
func (c Config) options() (*server.Options, error) {
	opts, err := c.read()
	if err != nil {
		return nil, fmt.Errorf("configure nats server from %s: %w", c.source(), err)
	}
	// The process's signals are its owner's: a server that handled SIGINT by
	// itself would go before the nodes that still write to it.
	opts.NoSigs = true
	if c.StoreDir != "" {
		opts.StoreDir = c.StoreDir
	}
	if c.ServerName != "" {
		opts.ServerName = c.ServerName
	}
	if c.MaxStore > 0 {
		opts.JetStreamMaxStore = c.MaxStore
	}
	if c.MaxMemory > 0 {
		opts.JetStreamMaxMemory = c.MaxMemory
	}
	if c.Listen != "" {
		if opts.Host, opts.Port, err = splitListen(c.Listen); err != nil {
			return nil, err
		}
	}
	opts.DontListen = c.InProcessOnly
	if c.Executors != nil {
		if err := c.Executors.apply(opts); err != nil {
			return nil, err
		}
	}
	return opts, c.validate(opts)
}

func (c Config) read() (*server.Options, error) {
	if c.ConfigFile != "" {
		opts, err := server.ProcessConfigFile(c.ConfigFile)
		return opts, flatten(err)
	}
	opts := &server.Options{}
	return opts, flatten(opts.ProcessConfigString(DefaultConf))
}

// flatten takes the mistakes out of the server's list of them, whose own text
// ends in an empty line.
func flatten(err error) error {
	var list interface{ Errors() []error }
	if errors.As(err, &list) {
		return errors.Join(list.Errors()...)
	}
	return err
}

// validate refuses what the server would accept and Carillon cannot work with.
func (c Config) validate(opts *server.Options) error {
	switch {
	case !opts.JetStream:
		return fmt.Errorf("configure nats server from %s: jetstream is off; add a jetstream block", c.source())
	case opts.StoreDir == "":
		// The server would choose a temporary directory, which the next boot of
		// the machine empties.
		return fmt.Errorf("configure nats server from %s: jetstream has no store_dir; name a directory that lasts", c.source())
	case c.Alone && (opts.Cluster.Port != 0 || len(opts.Routes) > 0 || opts.Gateway.Name != "" || opts.LeafNode.Port != 0 || len(opts.LeafNode.Remotes) > 0):
		return fmt.Errorf("configure nats server from %s: it joins other servers; leave out the blocks cluster, gateway and leafnodes", c.source())
	case c.MaxStore < 0 || c.MaxMemory < 0:
		return errors.New("max store and max memory must not be negative")
	}
	return nil
}

func (c Config) source() string {
	if c.ConfigFile != "" {
		return c.ConfigFile
	}
	return "the built-in nats.conf"
}

// splitListen splits a listen address. In the server's options 0 means the
// default port and -1 any free one; in an address 0 means any free one.
func splitListen(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q: want host:port: %w", listen, err)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q: port must be a number from 0 to 65535", listen)
	}
	if number == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, int(number), nil
}
