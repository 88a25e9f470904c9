//go:build linux

package packaged

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// engine is podman with a folder and a bridge of its own.
type engine struct{ folder string }

// The bridge, and its addresses but for the last number. It needs no plugin that gives names to
// containers: each is started with the names of all.
const (
	bridge = "carillon-try"
	subnet = "10.89.177."
)

const networkConfig = `{"cniVersion": "0.4.0", "name": "` + bridge + `", "plugins": [
  {"type": "bridge", "bridge": "` + bridge + `", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "` + subnet + `0/24"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}`

// theEngine is that of this run, which main makes and removes.
var theEngine engine

func (e *engine) make() (err error) {
	if e.folder, err = os.MkdirTemp("", "carillon-podman-"); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(e.folder, "networks"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.folder, "networks", bridge+".conflist"), []byte(networkConfig), 0o600)
}

// remove removes all that the engine has made.
func (e *engine) remove() {
	if _, err := os.Stat(filepath.Join(e.folder, "storage")); err == nil { // podman has been called
		_ = e.command("rm", "--all", "--force", "--time", "0").Run()
		_ = exec.Command("umount", "--recursive", filepath.Join(e.folder, "storage", "overlay")).Run()
		_ = exec.Command("ip", "link", "delete", bridge).Run() // there is none if no container ran
	}
	_ = os.RemoveAll(e.folder)
}

// podman returns the engine of this run. Without podman, the test is left out.
func podman(t *testing.T) *engine {
	t.Helper()
	needRoot(t, "podman", "runc")
	return &theEngine
}

func (e *engine) command(args ...string) *exec.Cmd {
	return exec.Command("podman", append([]string{
		"--runtime", "runc", "--storage-driver", "overlay", "--root", filepath.Join(e.folder, "storage"), "--runroot", filepath.Join(e.folder, "run"),
		"--tmpdir", filepath.Join(e.folder, "tmp"), "--cgroup-manager", "cgroupfs", "--events-backend", "file", "--network-config-dir", filepath.Join(e.folder, "networks"),
	}, args...)...)
}

// load loads the server's image of a release, and returns its id.
func (e *engine) load(t *testing.T, r release) string {
	t.Helper()
	// The archive has images for several architectures; podman takes this machine's.
	lines := strings.Fields(output(t, e.command("pull", "--quiet", "oci-archive:"+r.file(t, "carillon-image.oci.tar"))))
	id := lines[len(lines)-1]
	t.Logf("the server's image has %s bytes", strings.TrimSpace(output(t, e.command("image", "inspect", "--format", "{{.Size}}", id))))
	return id
}

// network gives containers addresses, and each the names of all.
type network struct {
	*engine
	names []string
}

// ip returns the address of a name.
func (n *network) ip(name string) string {
	for i, is := range n.names {
		if is == name {
			return fmt.Sprint(subnet, 10+i)
		}
	}
	panic("BUG: no container is called " + name)
}

// container returns a container that has not been started, and that is gone after the test. When it
// is started again, it is a new one, of the same image and with the same volumes.
func (n *network) container(t *testing.T, name string, options []string, image string, args ...string) *container {
	t.Helper()
	command := []string{
		"run", "--rm", "--replace", "--pull", "never", "--name", name, "--network", bridge, "--ip", n.ip(name),
		// Where root may not raise limits, those that podman sets are refused.
		"--ulimit", "nofile=4096:4096", "--ulimit", "nproc=2048:2048",
	}
	for _, other := range n.names {
		if other != name {
			command = append(command, "--add-host", other+":"+n.ip(other))
		}
	}
	cmd := n.command(append(append(append(command, options...), image), args...)...)
	c := &container{n, processtest.New(t, name, nil, cmd.Args...)}
	t.Cleanup(c.kill)
	return c
}

// container is podman in the foreground, which ends with its container.
type container struct {
	network *network
	*processtest.Process
}

// kill ends what runs in the container as a crash does, and waits for it.
func (c *container) kill() {
	c.Keep = false
	_ = c.network.command("kill", "--signal", "KILL", c.Name).Run() // unless it has ended
	c.Kill()
	_ = c.network.command("rm", "--force", "--ignore", "--time", "0", c.Name).Run()
}
