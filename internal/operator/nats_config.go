package operator

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/keyfile"
	"github.com/carillon-scheduler/carillon/internal/node"
	"github.com/carillon-scheduler/carillon/job"
)

// natsPlace is what differs between one NATS server and another, and between machines.
// Values that begin with $ are variables of the environment in which NATS will start.
type natsPlace struct {
	name, listen, store   string
	cert, key, ca         string
	cluster, listenOthers string
	routes                []string
}

func newNATSConfigCommand() *cobra.Command {
	var file string
	var operators, readers []string
	var place natsPlace
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print a NATS configuration that requires keys or credentials",
		Long: "Print a configuration for nats-server, like nats.conf in the repository, that admits Carillon\n" +
			"servers with their keys and executors with a credential, and nobody else. It contains no secrets,\n" +
			"only the paths of keys and certificates. \"carillon nats serve\" can run it. A value that begins\n" +
			"with $ is an environment variable of NATS.",
		Example: "  carillon nats config --keys nats.keys --listen 0.0.0.0:4222 --tls-cert cert.pem --tls-key key.pem > nats.conf\n" +
			"  carillon nats config --keys nats.keys --name n1 --listen 10.0.0.1:4222 --tls-cert cert.pem --tls-key key.pem --tls-ca ca.pem \\\n" +
			"    --cluster carillon --cluster-listen 10.0.0.1:6222 --route 10.0.0.2:6222,10.0.0.3:6222 > nats.conf",
		Args: cli.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&file, "keys", "", "the `file` of the keys (default: from "+keyfile.NATSKeysVariable+")")
	f.StringSliceVar(&operators, "operator", nil, "`file` of \"carillon nats keygen --operator\"; its holder may report on all NATS servers and remove lost ones")
	f.StringSliceVar(&readers, "log-reader", nil, "`NAME=FILE`: a file of \"carillon nats keygen --log-reader\"; its holder may read log lines by the consumer NAME of the stream LOG")
	f.StringVar(&place.name, "name", "", "the server's `name`, unique in its cluster (default carillon)")
	f.StringVar(&place.listen, "listen", "", "the `address` for clients (default 127.0.0.1:4222)")
	f.StringVar(&place.store, "store", "", "the `directory` of the streams (default data/nats, in the working directory of NATS)")
	f.StringVar(&place.cert, "tls-cert", "", "certificate `file` for clients")
	f.StringVar(&place.key, "tls-key", "", "the key `file` of the certificate")
	f.StringVar(&place.ca, "tls-ca", "", "CA `file` for the certificates of the other servers in the cluster")
	f.StringVar(&place.cluster, "cluster", "", "`name` of the cluster (default: a single server)")
	f.StringVar(&place.listenOthers, "cluster-listen", "", "the `address` for the other servers of the cluster")
	f.StringSliceVar(&place.routes, "route", nil, "cluster addresses of the other servers, `HOST:PORT`, separated by commas")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.MarkFlagsRequiredTogether("cluster", "cluster-listen", "route")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keys, err := node.ReadNATSKeys(file)
		if err != nil {
			return err
		}
		if keys == nil {
			return cli.Usage(&job.InvalidError{Field: "keys", Reason: "are missing; create them with \"carillon nats keygen\""})
		}
		public, err := keys.Public()
		if err != nil {
			return err
		}
		admitted, err := operatorKeys(operators)
		if err != nil {
			return err
		}
		conf, err := callout.Configure(embedded.DefaultConf, public, admitted...)
		if err != nil {
			return cli.Usage(err)
		}
		admittedReaders, err := logReaders(readers)
		if err != nil {
			return err
		}
		if conf, err = callout.AdmitLogReaders(conf, admittedReaders); err != nil {
			return cli.Usage(err)
		}
		if conf, err = place.lay(conf); err != nil {
			return cli.Usage(err)
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), conf)
		return err
	}
	return cmd
}

// operatorKeys returns the public halves of the keys in files.
func operatorKeys(files []string) ([]string, error) {
	var public []string
	for _, file := range files {
		seed, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
		if err != nil {
			return nil, fmt.Errorf("read key of operator: %w", err)
		}
		key, err := callout.OperatorOf(string(seed))
		if err != nil {
			return nil, cli.Usage(&job.InvalidError{Field: "operator", Reason: fmt.Sprintf("%s is %v", file, err)})
		}
		public = append(public, key)
	}
	return public, nil
}

// logReaders returns the readers of logs that arguments of the form NAME=FILE name.
func logReaders(args []string) ([]callout.LogReader, error) {
	var readers []callout.LogReader
	for _, arg := range args {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, cli.Usage(&job.InvalidError{Field: "log-reader", Reason: fmt.Sprintf("%q must be NAME=FILE", arg)})
		}
		seed, err := os.ReadFile(file) //nolint:gosec // the file that the operator names
		if err != nil {
			return nil, fmt.Errorf("read key of log reader: %w", err)
		}
		key, err := callout.OperatorOf(string(seed))
		if err != nil {
			return nil, cli.Usage(&job.InvalidError{Field: "log-reader", Reason: fmt.Sprintf("%s is %v", file, err)})
		}
		readers = append(readers, callout.LogReader{Consumer: name, Key: key})
	}
	return readers, nil
}

// lay puts the place into nats.conf. The error is job.ErrInvalid.
func (p natsPlace) lay(conf string) (string, error) {
	for field, addr := range map[string]string{"listen": p.listen, "cluster-listen": p.listenOthers} {
		if _, _, err := net.SplitHostPort(addr); addr != "" && err != nil {
			return "", &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be HOST:PORT, as in 0.0.0.0:4222", addr)}
		}
	}
	for _, with := range []struct{ before, line, value string }{
		{"server_name: ", "carillon", p.name},
		{"listen: ", `"127.0.0.1:4222"`, p.listen},
		{"  store_dir: ", `"data/nats"`, p.store},
	} {
		line := "\n" + with.before + with.line + "\n"
		if strings.Count(conf, line) != 1 {
			panic("BUG: nats.conf has no line " + line)
		}
		if with.value != "" {
			conf = strings.Replace(conf, line, "\n"+with.before+natsValue(with.value)+"\n", 1)
		}
	}
	return conf + p.tls("") + p.others(), nil
}

// tls returns the block for certificates, or "" without them.
func (p natsPlace) tls(indent string) string {
	if p.cert == "" {
		return ""
	}
	block := fmt.Sprintf("\n%[1]stls {\n%[1]s  cert_file: %[2]s\n%[1]s  key_file: %[3]s\n", indent, natsValue(p.cert), natsValue(p.key))
	if p.ca != "" {
		block += fmt.Sprintf("%s  ca_file: %s\n", indent, natsValue(p.ca))
	}
	return block + indent + "}\n"
}

// others returns the block for the other servers of a cluster, or "" for one alone.
func (p natsPlace) others() string {
	if p.cluster == "" {
		return ""
	}
	var routes []string
	for _, r := range p.routes {
		routes = append(routes, natsValue("nats://"+r))
	}
	return fmt.Sprintf("\ncluster {\n  name: %s\n  listen: %s\n  routes: [%s]\n%s}\n",
		natsValue(p.cluster), natsValue(p.listenOthers), strings.Join(routes, ", "), p.tls("  "))
}

// natsValue writes a text as NATS reads it: quoted, unless it names a variable.
func natsValue(s string) string {
	if strings.HasPrefix(s, "$") {
		return s
	}
	return strconv.Quote(s)
}
