//go:build linux

package packaged

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// debianFile has the files of a small Debian, from "task release:try".
const debianFile = "../../../.cache/debian.tar"

// debian returns the archive of a Debian's files. Without it, the test is left out.
func debian(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(debianFile); err != nil {
		t.Skip("left out, because there is no .cache/debian.tar: task release:try makes it, with debootstrap and as root")
	}
	return debianFile
}

// machine is a folder with the files of a small Debian, in which packages are installed.
type machine struct {
	*testing.T
	root string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	needRoot(t, "chroot", "systemd-analyze")
	m := machine{t, t.TempDir()}
	output(t, exec.Command("tar", "-xpf", debian(t), "-C", m.root, "--exclude", "./dev/*"))
	// systemd's own units are not there: those that ours name stand for them.
	for _, unit := range []string{"sysinit", "basic", "multi-user", "network-online", "shutdown", "network"} {
		m.write("usr/lib/systemd/system/"+unit+".target", "[Unit]\nDescription="+unit+"\n")
	}
	return m
}

func (m machine) write(name, text string) {
	m.Helper()
	file := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// in runs a command in the machine.
func (m machine) in(args ...string) string {
	m.Helper()
	cmd := exec.Command("chroot", append([]string{m.root}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"}
	return output(m.T, cmd)
}

// owners returns the owner, group and mode of all that paths name.
func (m machine) owners(paths ...string) map[string]string {
	m.Helper()
	found := map[string]string{}
	for _, p := range paths {
		is, err := os.Lstat(filepath.Join(m.root, p))
		if err != nil {
			found[p] = "missing"
			continue
		}
		own := is.Sys().(*syscall.Stat_t)
		owner := map[string]string{"0": "root", m.id("passwd"): "carillon"}[strconv.FormatUint(uint64(own.Uid), 10)]
		group := map[string]string{"0": "root", m.id("group"): "carillon"}[strconv.FormatUint(uint64(own.Gid), 10)]
		found[p] = fmt.Sprintf("%s:%s %o", owner, group, is.Mode().Perm())
	}
	return found
}

// id returns the number of the user or group carillon.
func (m machine) id(of string) string {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.root, "etc", of))
	if err != nil {
		m.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, ":"); fields[0] == "carillon" {
			return fields[2]
		}
	}
	return "none"
}

// checkInstalled wants what both packages have installed to be whole.
func (m machine) checkInstalled(r release) {
	m.Helper()
	want := map[string]string{
		"/usr/bin/carillon": "root:root 755",
		"/usr/lib/systemd/system/carillon-server.service":    "root:root 644",
		"/usr/lib/systemd/system/carillon-executor@.service": "root:root 644",
		"/etc/carillon":                       "root:carillon 750",
		"/etc/carillon/server.yaml.example":   "root:root 644",
		"/etc/carillon/executor.yaml.example": "root:root 644",
		"/usr/share/doc/carillon/LICENSE":     "root:root 644",
	}
	var paths []string
	for p := range want {
		paths = append(paths, p)
	}
	if diff := cmp.Diff(want, m.owners(paths...)); diff != "" {
		m.Errorf("files (-want +got):\n%s", diff)
	}
	if user := m.in("getent", "passwd", "carillon"); !strings.HasSuffix(strings.TrimSpace(user), ":/var/lib/carillon:/usr/sbin/nologin") {
		m.Errorf("the user is %s", user)
	}
	if said, archive := m.in("carillon", "version", "--client"), output(m.T, exec.Command(r.program(m.T), "version", "--client")); said != archive {
		m.Errorf("the program says %s, that of the archive %s", said, archive)
	}
	units := exec.Command("systemd-analyze", "verify", "--root", m.root, "carillon-server.service", "carillon-executor@billing.service")
	if said := output(m.T, units); said != "" {
		m.Errorf("systemd-analyze verify: %s", said)
	}
}

// checkRemoved wants the package to have left what is not its own: the configuration and the data of
// people, and the user whom they belong to.
func (m machine) checkRemoved() {
	m.Helper()
	want := map[string]string{
		"/usr/bin/carillon": "missing",
		"/usr/lib/systemd/system/carillon-server.service": "missing",
		"/etc/carillon/server.yaml.example":               "missing",
		"/usr/share/doc/carillon":                         "missing",
		"/etc/carillon/server.yaml":                       "root:root 600",
		"/var/lib/carillon/history.db":                    "root:root 600",
	}
	var paths []string
	for p := range want {
		paths = append(paths, p)
	}
	if diff := cmp.Diff(want, m.owners(paths...)); diff != "" {
		m.Errorf("files after the package was removed (-want +got):\n%s", diff)
	}
}

// use writes what belongs to people.
func (m machine) use() {
	m.write("etc/carillon/server.yaml", "replicas: 1\n")
	m.write("var/lib/carillon/history.db", "data")
}
