//go:build linux

package packaged

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// versionBefore returns the commit of the last release. While there is none, an older commit stands
// for it.
func versionBefore(t *testing.T) string {
	t.Helper()
	commit := "HEAD~30"
	need(t, "git")
	if tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1").Output(); err == nil {
		commit = strings.TrimSpace(string(tag))
	}
	return strings.TrimSpace(git(t, "rev-parse", "--verify", commit+"^{commit}"))
}

// TestAnUpgradeTakesOverTheDataAndABackupLeadsBack does what docs/how-to/upkeep.md says of an upgrade,
// and of the way back.
func TestAnUpgradeTakesOverTheDataAndABackupLeadsBack(t *testing.T) {
	r := released(t)
	c := newCluster(t, r)
	e := c.network.engine
	old, next := e.dockerfile(t, versionBefore(t), "server")[0], e.load(t, r)
	oldProgram, nextProgram := e.program(t, old), c.program

	c.use(oldProgram)
	nats, server := c.nats(old), c.server(old)
	c.signIn(c.url(), server)
	executor := c.join(old)
	c.tick(own)
	c.awaitFires(3)
	run := strings.TrimSpace(c.sh("carillon run default/tick"))
	c.sh("carillon wait " + run)
	c.checkServer()
	c.sh("carillon backup -f before.backup" + c.account())
	c.stop(server)
	history := filepath.Join(t.TempDir(), "history")
	output(t, exec.Command("cp", "-a", filepath.Join(c.volume("server1"), "data"), history))

	// The upgrade: servers first.
	c.stop(nats)
	c.use(nextProgram)
	nats, server = c.nats(next), c.server(next)
	c.awaitFires(3) // on the executor of before
	c.checkServer()
	c.stop(executor)
	executor = c.executor(next)
	c.awaitFires(3)
	c.await("carillon get runs "+run, "succeeded")
	c.checkLedger()

	// The way back: the backup, in a new account, and the copy of the history.
	for _, p := range []*container{executor, server, nats} {
		c.stop(p)
	}
	c.use(oldProgram)
	c.empty("nats1")
	c.empty("server1")
	c.nats(old)
	c.await("carillon restore -f before.backup"+c.account(), "restored the configuration")
	output(t, exec.Command("cp", "-a", history, filepath.Join(c.volume("server1"), "data")))
	c.began = time.Now()
	c.server(old)
	c.executor(old)
	c.awaitFires(3)
	c.checkServer()
	c.await("carillon get runs "+run, "succeeded")
	c.checkLedger()
}

// use continues with the commands of a program, and with the configuration of NATS that it makes.
func (c *cluster) use(program string) {
	c.Helper()
	c.program = program
	c.configure()
}

// checkServer wants the server to be of the same version as the command.
func (c *cluster) checkServer() {
	c.Helper()
	var v struct {
		Client string
		Server struct{ Version string }
	}
	if err := json.Unmarshal([]byte(c.sh("carillon version -o json")), &v); err != nil {
		c.Fatal(err)
	}
	if v.Client != v.Server.Version {
		c.Errorf("the server is %s, want %s", v.Server.Version, v.Client)
	}
}

// account returns the flags of commands that work on the account in NATS.
func (c *cluster) account() string {
	return " --nats tls://localhost:" + c.natsPort + " --nats-ca secrets/tls/ca.pem --nats-keys secrets/nats.keys"
}

// stop ends what runs in a container as an orderly supervisor does.
func (c *cluster) stop(p *container) {
	c.Helper()
	p.Terminate()
	if code, err := p.Wait(processtest.Patience); code != 0 || err != nil {
		c.Fatalf("after SIGTERM, %s ends with code %d, %v", p.Name, code, err)
	}
}

// volume returns the folder of a container's volume.
func (c *cluster) volume(name string) string {
	c.Helper()
	return strings.TrimSpace(output(c.T, c.network.command("volume", "inspect", "--format", "{{.Mountpoint}}", c.volumes+name)))
}

// empty removes all that a container has stored.
func (c *cluster) empty(name string) {
	c.Helper()
	files, err := filepath.Glob(filepath.Join(c.volume(name), "*"))
	if err != nil {
		c.Fatal(err)
	}
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			c.Fatal(err)
		}
	}
}

// program returns the program in an image.
func (e *engine) program(t *testing.T, image string) string {
	t.Helper()
	id := strings.TrimSpace(output(t, e.command("create", "--network", "none", image)))
	file := filepath.Join(t.TempDir(), "carillon")
	output(t, e.command("cp", id+":/usr/bin/carillon", file))
	output(t, e.command("rm", id))
	return file
}
