//go:build linux

package packaged

import (
	"os"
	"testing"
)

func TestTheDebianPackageInstallsAndPurges(t *testing.T) {
	r := released(t)
	m := newMachine(t)
	text, err := os.ReadFile(r.file(t, "carillon_*_$ARCH.deb"))
	if err != nil {
		t.Fatal(err)
	}
	m.write("carillon.deb", string(text))
	m.in("dpkg", "--install", "/carillon.deb")
	m.checkInstalled(r)
	m.use()
	m.in("dpkg", "--install", "/carillon.deb") // an upgrade leaves what people wrote
	m.checkInstalled(r)
	m.in("dpkg", "--purge", "carillon")
	m.checkRemoved()
}
