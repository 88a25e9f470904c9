package node

import (
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/bus/jet"
)

// NATSFlags are the flags of commands that connect to NATS.
type NATSFlags struct {
	jet.Config
}

// ConnectionFlags adds the flags to f.
func (o *NATSFlags) ConnectionFlags(f *pflag.FlagSet) {
	f.StringVar(&o.URL, "nats", "nats://127.0.0.1:4222", "`URLs` of the NATS servers, separated by commas")
	f.StringVar(&o.Credentials, "creds", "", "NATS credentials `file`")
	f.StringVar(&o.CAFile, "nats-ca", "", "`file` of certificate authorities for NATS")
	f.StringVar(&o.CertFile, "nats-cert", "", "client certificate `file` for NATS")
	f.StringVar(&o.KeyFile, "nats-key", "", "client key `file` for NATS")
}
