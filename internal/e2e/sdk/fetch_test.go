package sdk_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const home = "github.com/carillon-scheduler/carillon/"

// The bounds of what a program links that imports only the SDK.
const (
	maxPackages = 45        // outside the standard library
	maxGrowth   = 2_470_000 // bytes more than the same program with nats.go alone; Run.Start is 5,000 of them
)

const withSDK = `package main

import (
	"context"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/executor"
)

type params struct{ Region string }

func main() {
	conn, err := jet.Connect(jet.Config{})
	if err != nil {
		panic(err)
	}
	e, err := executor.New(conn, executor.Config{Group: "billing"})
	if err != nil {
		panic(err)
	}
	executor.Register(e, "report", func(context.Context, *executor.Run, params) (any, error) { return "written", nil })
	if err := e.Run(context.Background()); err != nil {
		panic(err)
	}
}
`

const withNATS = `package main

import (
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	nc, err := nats.Connect("", nats.ClientCert("cert.pem", "key.pem")) // which jet.Config has, too
	if err != nil {
		panic(err)
	}
	if _, err := jetstream.New(nc); err != nil {
		panic(err)
	}
}
`

// A stranger has no clone: they fetch the module by its path.
func TestAtLengthAStrangerFetchesTheSDKAndLinksLittleElse(t *testing.T) {
	s := newStranger(t)
	s.write("with/main.go", withSDK)
	s.write("without/main.go", withNATS)
	s.do("go", "mod", "init", "example.org/stranger")
	s.do("go", "get", home+"executor@v0.0.0", home+"bus@v0.0.0")
	s.do("go", "mod", "tidy")

	linked := strings.Fields(s.do("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./with"))
	if len(linked) > maxPackages {
		t.Errorf("a program with the SDK links %d packages, at most %d: %v", len(linked), maxPackages, linked)
	}
	for _, name := range []string{"with", "without"} {
		s.do("go", "build", "-o", name+".bin", "./"+name)
	}
	if grown := s.size("with.bin") - s.size("without.bin"); grown > maxGrowth {
		t.Errorf("the SDK makes a program larger by %d bytes, at most %d", grown, maxGrowth)
	}
}

// stranger has a folder of their own, and a module proxy with our modules.
type stranger struct {
	t        *testing.T
	dir      string
	settings []string
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	proxy := t.TempDir()
	for _, module := range []string{"job", "bus", "executor"} {
		publish(t, proxy, module)
	}
	s := &stranger{t: t, dir: t.TempDir()}
	mods := filepath.Join(t.TempDir(), "mod")
	known := strings.TrimSpace(s.do("go", "env", "GOMODCACHE"))
	upstream := strings.TrimSpace(s.do("go", "env", "GOPROXY"))
	s.settings = []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GONOSUMDB=*", "GONOSUMCHECK=1", "GOSUMDB=off", "GOMODCACHE=" + mods,
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(known, "cache", "download") + "," + upstream,
	}
	return s
}

func (s *stranger) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// do runs a command in the stranger's folder and returns what it prints.
func (s *stranger) do(command ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.settings...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, said.String())
	}
	return string(out)
}

func (s *stranger) size(name string) int64 {
	s.t.Helper()
	info, err := os.Stat(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// publish puts version v0.0.0 of one of our modules into a proxy's folder.
func publish(t *testing.T, proxy, module string) {
	t.Helper()
	const version = "v0.0.0"
	from := filepath.Join("..", "..", "..", module)
	to := filepath.Join(proxy, filepath.FromSlash(home+module), "@v")
	if err := os.MkdirAll(to, 0o750); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Create(filepath.Join(to, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		w, err := archive.Create(home + module + "@" + version + "/" + filepath.ToSlash(within))
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
