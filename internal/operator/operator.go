package operator

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/internal/node"
)

// operatorOptions are the flags of commands that whoever operates NATS runs: they ask
// no server, but NATS, as a server does.
type operatorOptions struct {
	node.NATSFlags
	keys string
}

func (o *operatorOptions) flags(f *pflag.FlagSet) {
	o.ConnectionFlags(f)
	f.StringVar(&o.keys, "nats-keys", "", "`file` with the server keys for NATS (default: from "+keyfile.NATSKeysVariable+")")
}

// connect returns a connection on which nothing has been looked up.
func (o *operatorOptions) connect(cmd *cobra.Command) (*cluster.Conn, error) {
	keys, err := node.ReadNATSKeys(o.keys)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		o.Key = keys.Server
	}
	o.Name = "carillon " + cmd.Name()
	return cluster.Connect(o.Config)
}

// open returns a connection to a system that has been set up.
func (o *operatorOptions) open(ctx context.Context, cmd *cobra.Command) (*cluster.Conn, error) {
	conn, err := o.connect(cmd)
	if err != nil {
		return nil, err
	}
	if err := jet.Patiently(ctx, conn.Open); err != nil {
		conn.NC.Close()
		return nil, err
	}
	return conn, nil
}

// operatorName is who the audit log says has run such a command.
func operatorName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return cli.UserName() + "@" + host
}
