//go:build unix

package xxl

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/internal/needed"
	"github.com/carillon-scheduler/carillon/job"
)

// needs leaves a test out where a program is missing, and fails it in CI.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if !needed.All() {
				t.Skipf("LEFT OUT: %v", err)
			}
			t.Fatal(err)
		}
	}
}

// install runs commands that install packages into a folder, unless their source is unchanged.
func install(t *testing.T, name, from string, commands ...[]string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	dir := folder(t, name)
	mark := filepath.Join(dir, "built")
	sources := read(t, from)
	if string(readIfThere(t, mark)) == sources {
		return dir
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "from")), os.MkdirAll(dir, 0o750), os.CopyFS(filepath.Join(dir, "from"), os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = filepath.Join(dir, "from")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, said)
		}
	}
	if err := os.WriteFile(mark, []byte(sources), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// inPython returns the command of a program in clients/python.
func inPython(program string, arguments ...string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		needs(t, "python3")
		dir := install(t, "python", "clients/python",
			[]string{"python3", "-m", "venv", "--clear", "../venv"},
			[]string{"../venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"})
		return append([]string{filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "from", program)}, arguments...)
	}
}

// inNode returns the command of a program in clients/node.
func inNode(program string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		needs(t, "node", "npm")
		dir := install(t, "node", "clients/node", []string{"npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"})
		return []string{"node", filepath.Join(dir, "from", program)}
	}
}

// inGo builds the program in goclient with an earlier version of its client.
func inGo(version string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		building.Lock()
		defer building.Unlock()
		out := folder(t, "goclient-"+version)
		build := exec.Command("go", "build", "-modfile", version+".mod", "-o", out, ".")
		build.Dir, build.Env = "goclient", append(os.Environ(), "GOWORK=off")
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build the executor in Go: %v\n%s", err, said)
		}
		return []string{out}
	}
}

// Executors in other languages attach and work as their documentation shows, with no change for us.
func TestClientsInOtherLanguagesAttachAsTheyAre(t *testing.T) {
	s := newSystem(t, "clients")
	for _, c := range []struct {
		name    string
		command func(*testing.T) []string
		result  string // of the handler success; "" for any
		failure string // of the handler failure
		log     string
		always  bool // not only with all versions: one client of each language
	}{
		{"pyxxl", inPython("with_pyxxl.py", "pyxxl"), `"42"`, "磁盘已满", "收到 你好 🚀", true},
		{"pyxxljob", inPython("with_pyxxl.py", "pyxxljob"), `"你好 🚀"`, "磁盘已满", "", false},
		{"flask", inPython("with_flask.py"), `"你好 🚀"`, "磁盘已满", "", false},
		{"fastapi", inPython("with_fastapi.py"), `"你好 🚀"`, "磁盘已满", "", false},
		{"xxl-job-npm", inNode("with_xxl_job.mjs"), "", "磁盘已满", "", false},
		{"dalongrong", inNode("with_dalongrong.cjs"), "", "磁盘已满", "收到", true},
		{"go-v1-1-2", inGo("v1.1.2"), "", "", "", true},
	} {
		if !c.always && os.Getenv(allVersions) == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			command := c.command(t)
			own := *s // a group of its own
			own.t, own.appname = t, c.name
			port, dir := processtest.FreePorts(t, 1)[0], t.TempDir()
			p := processtest.New(t, c.name, []string{
				"XXL_ADMIN=" + s.admins[0], "XXL_APPNAME=" + c.name, "XXL_TOKEN=" + token, "XXL_PORT=" + strconv.Itoa(port),
				"XXL_LOGS=" + filepath.Join(dir, "logs"), "XXL_WITNESS=" + filepath.Join(dir, "witness"), "NO_PROXY=127.0.0.1",
			}, append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, command...)...) // some write logs where they are
			p.Begin(t)
			processtest.Await(t, processtest.Patience, "wait for "+c.name+" to listen", func() error {
				if err := p.Alive(); err != nil {
					t.Fatal(err)
				}
				r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
				if err == nil {
					_ = r.Body.Close()
				}
				return err
			})
			own.awaitInstances(1)
			for _, name := range []string{"success", "failure", "unknown"} {
				own.save(t, name, fmt.Sprintf(`"task": {"handler": %q}`, name))
			}
			params := "你好 🚀"
			if c.name == "dalongrong" { // it ends itself for any parameter that is no JSON
				params = `{"a": "你好 🚀"}`
			}
			id := own.run(t, "success", params)
			if r := own.await(t, id, job.StatusSucceeded); c.result != "" && string(r.Result) != c.result {
				t.Errorf("the result is %s, want %s", r.Result, c.result)
			}
			if c.log != "" {
				own.awaitLog(t, id, nil, has(c.log))
			}
			if r := own.await(t, own.run(t, "failure", params), job.StatusFailed); !strings.Contains(string(r.Message), c.failure) {
				t.Errorf("the message is %q, want %q", r.Message, c.failure)
			}
			own.await(t, own.run(t, "unknown", params), job.StatusFailed)
			own.await(t, own.run(t, "success", params), job.StatusSucceeded)
			own.endsEarly(t, c.name)
		})
	}
}

// endsEarly cancels a run, and has another exceed its timeout. Whatever the client makes of that, which
// may be nothing or a success, the runs end so, and the executor takes the next one.
func (s *system) endsEarly(t *testing.T, client string) {
	t.Helper()
	param := "20" // seconds
	if strings.HasPrefix(client, "go-") {
		param = "20000"
	}
	s.save(t, "slow", `"task": {"handler": "slow"}`)
	s.save(t, "timed", `"task": {"handler": "slow"}, "timeout": "3s"`)
	id := s.run(t, "slow", param)
	processtest.Await(t, processtest.Patience, "wait for the start of run "+string(id), func() error {
		is, _, err := s.status(t, id)
		if err == nil && is != job.StatusRunning {
			err = fmt.Errorf("it is %s", is)
		}
		return err
	})
	s.cancel(t, id)
	s.await(t, id, job.StatusCancelled)
	s.await(t, s.run(t, "timed", param), job.StatusTimedOut)
	s.await(t, s.run(t, "success", "null"), job.StatusSucceeded)
}
