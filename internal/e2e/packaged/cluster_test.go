//go:build linux

package packaged

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// locked takes from a container what the program does not need: a root that can be written, and all
// capabilities.
var locked = []string{"--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt", "no-new-privileges"}

// cluster is a NATS server, a Carillon server and an executor, as containers of the server's image.
type cluster struct {
	*site
	network  *network
	port     string // of the API, on this machine
	natsPort string // of NATS, on this machine
	volumes  string // in the names of all volumes
}

func newCluster(t *testing.T, r release) *cluster {
	t.Helper()
	ports := processtest.FreePorts(t, 2)
	c := &cluster{
		site: newSite(t, r), network: &network{podman(t), []string{"nats1", "server1", "executor"}},
		port: strconv.Itoa(ports[0]), natsPort: strconv.Itoa(ports[1]),
	}
	c.volumes = strings.ReplaceAll(filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(c.folder)))), "/", "-")
	c.sh("./setup.sh")
	c.configure()
	return c
}

// configure makes the configuration of NATS.
func (c *cluster) configure() {
	c.Helper()
	c.sh("carillon nats config --keys secrets/nats.keys --name nats1 --listen 0.0.0.0:4222 --store nats" +
		" --tls-cert /etc/carillon/tls/cert.pem --tls-key /etc/carillon/tls/key.pem > secrets/nats.conf")
	c.sh("chmod 755 secrets && chmod 644 secrets/nats.conf") // for the user of the image, in this test's folder
}

// run starts a container with the keys, and with a volume where the image keeps its data.
func (c *cluster) run(name, image string, options []string, args ...string) *container {
	c.Helper()
	options = append(options, "--volume", filepath.Join(c.folder, "secrets")+":/etc/carillon:ro", "--volume", c.volumes+name+":/var/lib/carillon")
	p := c.network.container(c.T, name, append(options, locked...), image, args...)
	p.Begin(c.T)
	return p
}

func (c *cluster) nats(image string) *container {
	c.Helper()
	return c.run("nats1", image, []string{"--publish", "127.0.0.1:" + c.natsPort + ":4222"}, "nats", "serve", "--config", "/etc/carillon/nats.conf")
}

// server starts the command of the image, which variables tell the rest.
func (c *cluster) server(image string) *container {
	c.Helper()
	return c.run("server1", image, []string{
		"--publish", "127.0.0.1:" + c.port + ":8822",
		"--env", "CARILLON_NATS=tls://nats1:4222", "--env", "CARILLON_NATS_CA=/etc/carillon/tls/ca.pem",
		"--env", "CARILLON_NATS_KEYS_FILE=/etc/carillon/nats.keys", "--env", "CARILLON_MASTER_KEY_FILE=/etc/carillon/master.key",
		"--env", "CARILLON_TLS_CERT=/etc/carillon/tls/cert.pem", "--env", "CARILLON_TLS_KEY=/etc/carillon/tls/key.pem",
		"--env", "CARILLON_HTTP=0.0.0.0:8822", "--env", "CARILLON_PUBLIC_URL=" + c.url(),
	})
}

// url is the address of the API.
func (c *cluster) url() string { return "https://localhost:" + c.port }

// join starts an executor of a group with a new credential.
func (c *cluster) join(image string) *container {
	c.Helper()
	c.sh("carillon credential create try -g default --file secrets/default.seed && chmod 644 secrets/default.seed")
	return c.executor(image)
}

// executor starts an executor with the credential that there is.
func (c *cluster) executor(image string) *container {
	c.Helper()
	tasks := []string{"--tmpfs", "/tmp"} // each run has a folder there
	e := c.run("executor", image, tasks, "executor", "--group", "default", "--nats", "tls://nats1:4222", "--nats-ca", "/etc/carillon/tls/ca.pem",
		"--credential", "/etc/carillon/default.seed", "--spool", "/var/lib/carillon/spool")
	c.await("carillon get groups", "online")
	return e
}
