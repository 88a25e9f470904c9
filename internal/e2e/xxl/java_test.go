//go:build unix

package xxl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/needed"
)

// versions are those of com.xuxueli:xxl-job-core that are tested, oldest first. Up to 3.2 they speak
// dialect A, then B. 2.2 has its own form of A.
var versions = []string{"2.2.0", "2.3.1", "2.4.2", "2.5.0", "3.2.0", "3.3.2"}

// errNoMaven means that executors in Java cannot be built here.
var errNoMaven = errors.New("there is no JDK 17 or newer with Maven")

// hasMaven returns errNoMaven, or nil.
var hasMaven = sync.OnceValue(func() error {
	if exec.Command("mvn", "--version").Run() != nil || exec.Command("javac", "--release", "17", "--version").Run() != nil {
		return errNoMaven
	}
	return nil
})

// folder is where what is built stays: beside the tools that tasks install.
func folder(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "xxl", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// building lets one test build at a time. Tests of several versions run at once.
var building sync.Mutex

// java returns the class path of the executor for a version, which it builds if its sources are newer.
func java(t *testing.T, version string) string {
	t.Helper()
	if err := hasMaven(); err != nil {
		if !needed.All() {
			t.Skipf("LEFT OUT: %v", err)
		}
		t.Fatal(err)
	}
	building.Lock()
	defer building.Unlock()
	out, mark := folder(t, version), filepath.Join(folder(t, version), "built")
	if sources := read(t, "java"); string(readIfThere(t, mark)) != sources {
		// Each version has its own folder, and Maven's cache is safe for several processes.
		cmd := exec.Command("mvn", "--batch-mode", "--no-transfer-progress", "-q", "-f", "java", "clean", "compile", "-Dxxl.version="+version, "-Dxxl.folder="+out)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build the executor for XXL-JOB %s: %v\n%s", version, err, said)
		}
		if err := os.WriteFile(mark, []byte(sources), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(out, "classes") + string(filepath.ListSeparator) + filepath.Join(out, "lib", "*")
}

// read returns all files of a folder, with their names.
func read(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "== %s\n%s", path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func readIfThere(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// javaCommand is small: many run side by side.
func javaCommand(t *testing.T, version string) []string {
	t.Helper()
	return []string{
		"java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dfile.encoding=UTF-8", "-Dorg.slf4j.simpleLogger.showDateTime=true", "-cp", java(t, version), "carillon.xxl.Main",
	}
}

// goCommand builds the executor with the client in Go, a module of its own.
func goCommand(t *testing.T) []string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	out := folder(t, "goclient")
	build := exec.Command("go", "build", "-o", out, ".")
	build.Dir, build.Env = "goclient", append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the executor in Go: %v\n%s", err, said)
	}
	return []string{out}
}
