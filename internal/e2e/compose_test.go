//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// composed is deploy/compose in a folder and with ports of the test's own: what containers
// would run are processes, and what is mounted into them is where setup.sh has made it.
type composed struct {
	page
	file struct {
		Services map[string]struct {
			Environment map[string]string `yaml:"environment"`
			Command     []string          `yaml:"command"`
		} `yaml:"services"`
		Secrets map[string]struct {
			File string `yaml:"file"`
		} `yaml:"secrets"`
	}
	text string // of compose.yaml
}

// place is where something is here that containers have at the same place.
type place map[string]string

func (to place) of(text string) string {
	for there, here := range to {
		text = strings.ReplaceAll(text, there, here)
	}
	return text
}

func newComposed(t *testing.T) *composed {
	t.Helper()
	carillon, folder := processtest.Program(t, "carillon"), t.TempDir()
	var text []byte
	for _, file := range []string{"setup.sh", "compose.yaml"} { // and no secrets that somebody has made there
		var err error
		if text, err = os.ReadFile(filepath.Join("../../deploy/compose", file)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &composed{text: string(text), page: page{
		T: t, folder: folder, ports: strings.NewReplacer(), words: map[string]string{},
		env: []string{"PATH=" + filepath.Dir(carillon) + ":" + os.Getenv("PATH"), "CARILLON_CONFIG=" + filepath.Join(t.TempDir(), "contexts.json")},
	}}
	if err := yaml.UnmarshalWithOptions(text, &c.file, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	return c
}

// step returns the command of a comment that has the words.
func (c *composed) step(words string) string {
	c.Helper()
	for line := range strings.Lines(c.text) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "#   "); is && strings.Contains(command, words) {
			return command
		}
	}
	c.Fatalf("compose.yaml has no step with %q", words)
	return ""
}

// try runs a step until it succeeds and what it prints has the words.
func (c *composed) try(command, words string) {
	c.Helper()
	processtest.Await(c.T, processtest.Patience, "run "+command, func() error {
		out, err := c.run(command)
		if err == nil && !strings.Contains(out, words) {
			err = fmt.Errorf("%s: %s", command, out)
		}
		return err
	})
}

// service starts what a container of that name would run.
func (c *composed) service(name string, to place, args ...string) *processtest.Process {
	c.Helper()
	s := c.file.Services[name]
	env := append([]string{}, c.env...)
	for variable, value := range s.Environment {
		if variable != "CARILLON_STORE" && variable != "HOME" { // the store is SQLite here
			env = append(env, variable+"="+to.of(value))
		}
	}
	command := []string{processtest.Program(c.T, "carillon")}
	for _, arg := range s.Command {
		command = append(command, to.of(arg))
	}
	p := processtest.New(c.T, name, env, append(command, args...)...)
	p.Begin(c.T)
	return p
}

// There is no container engine where tests run. Whatever else the file says is done as it
// stands: setup.sh, three NATS servers, a server, the link in its log, a credential.
func TestTheStepsOfComposeWork(t *testing.T) {
	t.Parallel()
	c := newComposed(t)
	setup := strings.Fields(c.step("./setup.sh"))[0]
	c.try(setup, "secrets are in")
	keys, err := os.ReadFile(filepath.Join(c.folder, "secrets/nats.keys"))
	if err != nil {
		t.Fatal(err)
	}
	c.try(setup, "secrets are in")
	if again, err := os.ReadFile(filepath.Join(c.folder, "secrets/nats.keys")); err != nil || string(again) != string(keys) {
		t.Errorf("a second setup.sh replaced the keys: %v", err)
	}

	ports := processtest.FreePorts(t, 9)
	address := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	to := place{"0.0.0.0:8822": address(ports[6]), "localhost:8822": fmt.Sprintf("localhost:%d", ports[6]), "0.0.0.0:9822": address(ports[7]), "0.0.0.0:9823": address(ports[8])}
	for name, secret := range c.file.Secrets {
		to["/run/secrets/"+name] = filepath.Join(c.folder, secret.File)
	}
	conf, err := os.ReadFile(filepath.Join(c.folder, "secrets/nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		to[fmt.Sprintf("nats%d:4222", i+1)], to[fmt.Sprintf("nats%d:6222", i+1)] = address(ports[i]), address(ports[3+i])
	}
	for i := range 3 {
		name := fmt.Sprintf("nats%d", i+1)
		here := place{"/etc/nats/tls": filepath.Join(c.folder, "secrets/tls"), `"/data"`: fmt.Sprintf("%q", filepath.Join(c.folder, name)), "0.0.0.0:4222": address(ports[i]), "0.0.0.0:6222": address(ports[3+i])}
		file := filepath.Join(c.folder, name+".conf")
		if err := os.WriteFile(file, []byte(to.of(here.of(string(conf)))), 0o600); err != nil {
			t.Fatal(err)
		}
		nats := processtest.New(t, name, append([]string{"NATS_NAME=" + c.file.Services[name].Environment["NATS_NAME"]}, c.env...), processtest.Program(t, "carillon"), "nats", "serve", "--config", file)
		nats.Begin(t)
	}
	server := c.service("server1", to, "--data", filepath.Join(c.folder, "history"))

	grep := regexp.MustCompile(`grep .*?'.*?'`).FindString(c.step("grep -o"))
	var link string
	processtest.Await(t, processtest.Patience, "find the link in the log", func() error {
		cmd := exec.Command("/bin/sh", "-c", grep)
		cmd.Stdin = strings.NewReader(server.Said())
		out, err := cmd.Output()
		if link = oneTimeLink.FindString(string(out)); link == "" {
			return fmt.Errorf("%s: %s, %w", grep, out, errors.Join(err, server.Alive()))
		}
		return nil
	})
	c.try(to.of(c.step("carillon login"))+" --user ann --link '"+link+"'", "ann")
	c.try(c.step("carillon credential create"), "")
	to["/var/lib/carillon/spool"] = filepath.Join(c.folder, "spool")
	c.service("executor", to, "--credential", to["/run/secrets/credential"]) // in place of standard input
	c.try("carillon get groups", "online")
	if err := os.WriteFile(filepath.Join(c.folder, "job.yaml"), []byte("job: default/hello\ntask: {shell: echo hello}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.try("carillon apply -f job.yaml", "default/hello")
	c.try("carillon run default/hello --wait", "succeeded")
	c.try("carillon get bus", "3 replicas")
}
