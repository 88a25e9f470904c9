package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
)

func TestTheConfigurationOfNATSHasWhatDiffersBetweenServers(t *testing.T) {
	t.Setenv("NATS_NAME", "n2")
	conf, err := natsPlace{
		name: "$NATS_NAME", listen: "0.0.0.0:4223", store: `/data/with "quotes"`,
		cluster: "carillon", listenOthers: "10.0.0.1:6222", routes: []string{"n2:6222", "n3:6222"},
	}.lay(embedded.DefaultConf)
	if err != nil {
		t.Fatal(err)
	}
	var o server.Options
	if err := o.ProcessConfigString(conf); err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, r := range o.Routes {
		routes = append(routes, r.String())
	}
	got := []any{o.ServerName, o.Host, o.Port, o.StoreDir, o.Cluster.Name, o.Cluster.Host, o.Cluster.Port, routes}
	want := []any{"n2", "0.0.0.0", 4223, `/data/with "quotes"`, "carillon", "10.0.0.1", 6222, []string{"nats://n2:6222", "nats://n3:6222"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if plain, err := (natsPlace{}).lay(embedded.DefaultConf); err != nil || plain != embedded.DefaultConf {
		t.Errorf("nothing that differs changes the configuration: %v", err)
	}
	if _, err := (natsPlace{listen: "4222"}).lay(embedded.DefaultConf); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
		t.Errorf("error %v", err)
	}
}

func TestReadersOfLogsAreNamedWithTheirKeys(t *testing.T) {
	seed, err := callout.NewOperator()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "loki.nk")
	if err := os.WriteFile(file, []byte(seed+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	readers, err := logReaders([]string{"loki=" + file})
	if err != nil || len(readers) != 1 || readers[0].Consumer != "loki" || readers[0].Key == "" {
		t.Errorf("got %v, %v", readers, err)
	}
	for _, bad := range []string{file, "loki=" + file + ".gone"} {
		if readers, err := logReaders([]string{bad}); err == nil {
			t.Errorf("%s: %v", bad, readers)
		}
	}
}

// The certificates are those that clients and the other servers of a cluster see.
func TestTheConfigurationOfNATSNamesCertificates(t *testing.T) {
	conf, err := natsPlace{cert: "c.pem", key: "k.pem", ca: "a.pem", cluster: "x", listenOthers: "h:1", routes: []string{"h:2"}}.lay(embedded.DefaultConf)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(conf, `cert_file: "c.pem"`); n != 2 {
		t.Errorf("%d blocks name the certificate, want 2:\n%s", n, conf)
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.ProcessConfigFile(file); err == nil || !strings.Contains(err.Error(), "c.pem") {
		t.Errorf("error %v, want one about the certificate that is not there", err)
	}
}
