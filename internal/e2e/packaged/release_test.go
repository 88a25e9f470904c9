//go:build linux

package packaged

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// release is a folder that "task release" has built.
type release string

// released returns the release that is tried. Without one, the test is left out.
func released(t *testing.T) release {
	t.Helper()
	folder := os.Getenv("CARILLON_RELEASED")
	if folder == "" {
		t.Skip("left out, because CARILLON_RELEASED names no release: task release:try builds one")
	}
	return release(folder)
}

// file returns the one file of the release whose name fits the pattern, with this machine's
// architecture for ARCH.
func (r release) file(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(string(r), os.Expand(pattern, func(string) string { return runtime.GOARCH })))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s has %q of %s, want one file: %v", string(r), found, pattern, err)
	}
	return found[0]
}

// unpack unpacks an archive of the release into a folder of the test's own.
func (r release) unpack(t *testing.T, pattern string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	output(t, exec.Command("tar", "-xzf", r.file(t, pattern), "-C", folder))
	return folder
}

// program unpacks the archive for this machine, and returns the program carillon.
func (r release) program(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.unpack(t, "carillon_*_linux_$ARCH.tar.gz"), "*", "carillon"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the archive has the programs %q, want one: %v", found, err)
	}
	return found[0]
}

// need leaves the test out unless the PATH has the programs.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("left out, because the PATH has no %s", p)
		}
	}
}

// needRoot leaves the test out unless it runs as root, and has the programs.
func needRoot(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("left out, because it needs root")
	}
	need(t, programs...)
}

// output returns what a command prints, and ends the test if it fails.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// write writes a file that the test's user alone reads.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
