//go:build linux

package packaged

import (
	"os/exec"
	"runtime"
	"testing"
)

func TestTheRPMInstallsAndErases(t *testing.T) {
	r := released(t)
	m := newMachine(t)
	need(t, "rpm")
	file := r.file(t, "carillon-*."+map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]+".rpm")
	rpm := func(args ...string) {
		t.Helper()
		// Debian's database of packages has no shell for the scripts to depend on, but its files have one.
		output(t, exec.Command("rpm", append([]string{"--root", m.root, "--dbpath", "/var/lib/rpm", "--nodeps"}, args...)...))
	}
	rpm("--install", file)
	m.checkInstalled(r)
	m.use()
	rpm("--upgrade", "--force", file)
	m.checkInstalled(r)
	rpm("--erase", "carillon")
	m.checkRemoved()
}
