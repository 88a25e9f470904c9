//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// system is NATS servers, Carillon servers and executors, each a process.
type system struct {
	t         *testing.T
	nats      []*processtest.Process
	servers   []*processtest.Process // the first has the store and the API, too
	executors []*processtest.Process
	ports     []int  // of the NATS servers
	url       string // of all NATS servers, past the links
	links     []*link
	disks     []*disk  // of the NATS servers
	clocks    []string // files that say how wrong the clocks of servers are; none when they cannot be
	monitors  []string // addresses of the servers' metrics
	nc        *nats.Conn
	js        jetstream.JetStream
	api       *client.API
	token     string // with which api signs in
	journal   string // the file in which runs say that they were
}

// newCluster starts replicas NATS servers, three Carillon servers and three
// executors of the group, and waits until they are ready. Flags are those of the server
// that has the store. Each process has a link to each NATS server. The clocks of the servers
// that have no store can be made wrong if wanted.
func newCluster(t *testing.T, replicas int, group string, clocks bool, flags ...string) *system {
	t.Helper()
	return newPartitioned(t, replicas, 1, group, clocks, flags...)
}

// newPartitioned is newCluster with so many partitions. newServersOf is it without executors.
func newPartitioned(t *testing.T, replicas, partitions int, group string, clocks bool, flags ...string) *system {
	t.Helper()
	c := newServersOf(t, replicas, partitions, clocks, flags...)
	for i := range 3 {
		name := fmt.Sprintf("executor-%d", i)
		c.startExecutor(name, processtest.Program(t, "carillon"), "executor", "--group", group, "--instance", name, "--nats", c.reach(name), "--slots", "128")
	}
	return c
}

// newServers is newCluster without executors.
func newServers(t *testing.T, replicas int) *system {
	t.Helper()
	return newServersOf(t, replicas, 1, false)
}

func newServersOf(t *testing.T, replicas, partitions int, clocks bool, flags ...string) *system {
	t.Helper()
	c := &system{t: t, journal: filepath.Join(t.TempDir(), "journal")}
	ports := processtest.FreePorts(t, 2*replicas+1+servers)
	c.startNATS(ports[:replicas], ports[replicas:2*replicas])
	c.setUp(replicas, partitions)
	c.startServers(ports[2*replicas:], replicas, clocks, flags)
	return c
}

func (c *system) startExecutor(name string, command ...string) {
	c.t.Helper()
	p := processtest.New(c.t, name, []string{"JOURNAL=" + c.journal}, command...)
	p.Keep = true
	p.Begin(c.t)
	c.executors = append(c.executors, p)
}

func (c *system) startNATS(ports, routes []int) {
	c.t.Helper()
	c.ports = ports
	urls := make([]string, len(ports))
	for i, port := range ports {
		urls[i] = fmt.Sprintf("nats://127.0.0.1:%d", port)
	}
	c.url = strings.Join(urls, ",")
	for i, port := range ports {
		conf, folder, name := embedded.DefaultConf, c.t.TempDir(), c.natsName(i)
		if len(ports) > 1 {
			conf += c.routes(name, routes, i)
		}
		path := filepath.Join(folder, "nats.conf")
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
			c.t.Fatal(err)
		}
		d := newDisk(c.t)
		c.disks = append(c.disks, d)
		p := processtest.New(c.t, name, nil, d.command(processtest.Program(c.t, "natsd"), path, filepath.Join(d.path, "store"), name, fmt.Sprintf("127.0.0.1:%d", port))...)
		p.Begin(c.t)
		c.nats = append(c.nats, p)
	}
	processtest.Await(c.t, processtest.Patience, "connect to NATS", func() (err error) {
		if c.nc == nil {
			c.nc, err = nats.Connect(c.url, nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond))
		}
		if err == nil && c.js == nil {
			c.js, err = jetstream.New(c.nc)
		}
		if err != nil {
			return err
		}
		_, err = c.js.AccountInfo(c.t.Context())
		return err
	})
	c.t.Cleanup(c.nc.Close)
}

// setUp makes the streams of a cluster with several partitions. With one, servers do.
func (c *system) setUp(replicas, partitions int) {
	c.t.Helper()
	if partitions == 1 {
		return
	}
	conn, err := cluster.Connect(jet.Config{URL: c.url})
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.NC.Close()
	if err := conn.Setup(c.t.Context(), cluster.Assets{Replicas: replicas, Partitions: bus.Partitions(partitions)}); err != nil {
		c.t.Fatal(err)
	}
}

// natsName returns the name of a NATS server.
func (*system) natsName(i int) string { return fmt.Sprintf("nats-%d", i) }

// routes returns the part of a NATS server's configuration that joins it to the others. It
// tells nobody of a way past the links: what it says of its own address leads nowhere.
func (c *system) routes(name string, ports []int, own int) string {
	var peers []string
	for i, port := range ports {
		if i == own {
			continue
		}
		l := newLink(c.t, name, c.natsName(i), fmt.Sprintf("127.0.0.1:%d", port))
		c.links = append(c.links, l)
		peers = append(peers, fmt.Sprintf("%q", "nats://"+l.address()))
	}
	return fmt.Sprintf("\ncluster { name: e2e, listen: \"127.0.0.1:%d\", advertise: \"127.0.0.1:1\", no_advertise: true, routes: [%s] }\n",
		ports[own], strings.Join(peers, ", "))
}

// servers is how many Carillon servers a cluster has.
const servers = 3

// startServers starts them. The API listens on the first of ports, the metrics of each on one of the others.
func (c *system) startServers(ports []int, replicas int, clocks bool, flags []string) {
	c.t.Helper()
	port := ports[0]
	data := filepath.Join(c.t.TempDir(), "data")
	for i := range servers {
		c.monitors = append(c.monitors, fmt.Sprintf("127.0.0.1:%d", ports[i+1]))
		name := fmt.Sprintf("server-%d", i)
		binary, env := processtest.Program(c.t, "carillon"), []string(nil)
		if clocks && i > 0 {
			offset := filepath.Join(c.t.TempDir(), "offset")
			c.clocks = append(c.clocks, offset)
			binary, env = offclock(c.t), []string{"CLOCK_OFFSET=" + offset}
		}
		args := []string{binary, "server", "--nats", c.reach(name), "--replicas", strconv.Itoa(replicas), "--node", fmt.Sprintf("n%d", i), "--metrics", c.monitors[i]}
		if i == 0 {
			args = append(args, "--http", fmt.Sprintf("127.0.0.1:%d", port), "--data", data)
			args = append(args, flags...)
		} else {
			args = append(args, "--roles", "scheduler")
		}
		p := processtest.New(c.t, name, env, args...)
		p.Keep = true
		p.Begin(c.t)
		c.servers = append(c.servers, p)
	}
	var err error
	if c.api, err = client.New(fmt.Sprintf("127.0.0.1:%d", port), "e2e"); err != nil {
		c.t.Fatal(err)
	}
	c.awaitReady()
	c.token = processtest.SignIn(c.t, c.servers[0], processtest.Program(c.t, "carillon"))
	c.api.Authorize(c.token)
}

// awaitReady waits until the API says that all it needs is there.
func (c *system) awaitReady() {
	c.t.Helper()
	processtest.Await(c.t, processtest.Patience, "wait for the API to be ready", func() error {
		_, err := client.Read[client.Health](c.api.Readyz(c.t.Context()))
		return err
	})
}

func (c *system) isNATS(name string) bool {
	return slices.ContainsFunc(c.nats, func(p *processtest.Process) bool { return p.Name == name })
}

func (c *system) processes() []*processtest.Process {
	all := append([]*processtest.Process(nil), c.nats...)
	return append(append(all, c.servers...), c.executors...)
}

// replica is one of the replicas of a stream.
type replica struct{ stream, server string }

// wholeWithin is how long a replica may be behind. On a busy machine some are at any moment.
const wholeWithin = 3 * time.Second

// whole returns an error unless every replica of every stream has all of it, or had just now,
// so that one NATS server may be lost.
func (c *system) whole() error {
	seen := map[replica]bool{}
	return processtest.Within(wholeWithin, func() error { return c.lookWhole(seen) })
}

// lookWhole is one look of whole. It adds the replicas that have all of their streams to seen.
func (c *system) lookWhole(seen map[replica]bool) error {
	lister := c.js.ListStreams(c.t.Context())
	streams := 0
	var behind error
	for info := range lister.Info() {
		streams++
		switch {
		case info.Cluster == nil:
		case info.Cluster.Leader == "":
			behind = fmt.Errorf("stream %s has no leader", info.Config.Name)
		default:
			for _, r := range info.Cluster.Replicas {
				is := replica{info.Config.Name, r.Name}
				if r.Current && !r.Offline {
					seen[is] = true
				}
				if r.Offline || !seen[is] {
					behind = fmt.Errorf("replica %s of stream %s is behind", is.server, is.stream)
				}
			}
		}
	}
	if err := lister.Err(); err != nil {
		return err
	}
	if streams < 9 {
		return fmt.Errorf("%d streams answer", streams)
	}
	return behind
}

// brokenOff returns what processes said when they ended because of a bug of theirs.
func (c *system) brokenOff() error {
	var errs []error
	for _, p := range c.processes() {
		said := p.Said()
		for _, mark := range []string{"panic: ", "fatal error: ", "BUG: "} {
			if at := strings.Index(said, mark); at >= 0 {
				errs = append(errs, fmt.Errorf("%s: %s", p.Name, said[at:min(at+3000, len(said))]))
				break
			}
		}
	}
	return errors.Join(errs...)
}
