//go:build linux

package packaged

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// service is what compose.yaml says of a container.
type service struct {
	Image       string            `yaml:"image"`
	Entrypoint  []string          `yaml:"entrypoint"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Secrets     []string          `yaml:"secrets"`
	Ports       []string          `yaml:"ports"`
	User        string            `yaml:"user"`
	CapDrop     []string          `yaml:"cap_drop"`
	CapAdd      []string          `yaml:"cap_add"`
	SecurityOpt []string          `yaml:"security_opt"`
}

// composition runs the services of the release's compose.yaml with podman, as Compose does but for
// the ports of this machine, which are free ones.
type composition struct {
	*site
	network *network
	server  string // the id of the server's image
	ports   map[string]string
	file    struct {
		Services map[string]service `yaml:"services"`
		Secrets  map[string]struct {
			File string `yaml:"file"`
		} `yaml:"secrets"`
	}
	text string
}

func newComposition(t *testing.T, r release) *composition {
	t.Helper()
	e := podman(t)
	c := &composition{site: newSite(t, r), server: e.load(t, r), ports: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(c.folder, "compose.yaml"))
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &c.file, yaml.AllowDuplicateMapKey())
	}
	if err != nil {
		t.Fatal(err)
	}
	c.text = string(text)
	c.network = &network{e, slices.Sorted(maps.Keys(c.file.Services))}
	for _, s := range c.file.Services { // which takes minutes, so before anything runs
		c.image(s.Image)
	}
	for i, port := range processtest.FreePorts(t, 2) {
		c.ports[strconv.Itoa(8822+i)] = strconv.Itoa(port)
	}
	return c
}

// here replaces the ports of this machine by those of the test.
func (c *composition) here(text string) string {
	for there, here := range c.ports {
		text = strings.ReplaceAll(text, "localhost:"+there, "localhost:"+here)
	}
	return text
}

// step returns the command of a comment that has the words.
func (c *composition) step(words string) string {
	c.Helper()
	for line := range strings.Lines(c.text) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "#   "); is && strings.Contains(command, words) {
			return c.here(command)
		}
	}
	c.Fatalf("compose.yaml has no step with %q", words)
	return ""
}

// up starts a service, and again whenever it ends by itself.
func (c *composition) up(name string, more ...string) *container {
	c.Helper()
	s := c.file.Services[name]
	var options []string
	add := func(flag string, values ...string) {
		for _, v := range values {
			options = append(options, flag, v)
		}
	}
	for variable, value := range s.Environment {
		add("--env", variable+"="+c.here(value))
	}
	for _, v := range s.Volumes {
		if from, to, _ := strings.Cut(v, ":"); strings.HasPrefix(from, "./") {
			v = filepath.Join(c.folder, from) + ":" + to
		}
		add("--volume", v)
	}
	for _, secret := range s.Secrets {
		add("--volume", filepath.Join(c.folder, c.file.Secrets[secret].File)+":/run/secrets/"+secret+":ro")
	}
	for _, p := range s.Ports {
		from, to, _ := strings.Cut(p, ":")
		add("--publish", "127.0.0.1:"+c.ports[from]+":"+to)
	}
	add("--cap-drop", s.CapDrop...)
	add("--cap-add", s.CapAdd...)
	add("--security-opt", s.SecurityOpt...)
	if s.User != "" {
		add("--user", s.User)
	}
	if s.Entrypoint != nil {
		words, err := json.Marshal(s.Entrypoint)
		if err != nil {
			c.Fatal(err)
		}
		add("--entrypoint", strings.ReplaceAll(string(words), "$$", "$"))
	}
	p := c.network.container(c.T, name, append(options, more...), c.image(s.Image), s.Command...)
	p.Keep = true
	p.Begin(c.T)
	return p
}

// byDigest is how the files of deploy name the server's image in a release.
var byDigest = regexp.MustCompile(`\bghcr\.io/carillon-scheduler/carillon:\S+@(sha256:[0-9a-f]{64})\b`)

// image returns the image that a service names, and makes what Docker Hub or a build has for others.
func (c *composition) image(name string) string {
	c.Helper()
	if byDigest.MatchString(name) {
		return c.local(name)
	}
	e := c.network.engine
	switch name {
	case "nats:2.15":
		name = natsImage
		if !e.has(name) {
			e.addFiles(c.T, name, map[string][]byte{"nats-server": built(c.T, "github.com/nats-io/nats-server/v2", "CGO_ENABLED=0")}, `ENTRYPOINT ["/nats-server"]`)
		}
	case "clickhouse/clickhouse-server:26.2":
		name = clickhouseImage
		if !e.has(name) {
			e.addClickHouse(c.T)
		}
	case "carillon-executor":
		if !e.has(name) {
			c.buildExecutor(name)
		}
	default:
		c.Fatalf("compose.yaml names the image %q, which the test does not know", name)
	}
	return name
}

// local replaces the server's image of the release by the one that was loaded.
func (c *composition) local(text string) string {
	c.Helper()
	index := output(c.T, exec.Command("tar", "-xOf", released(c.T).file(c.T, "carillon-image.oci.tar"), "index.json"))
	return byDigest.ReplaceAllStringFunc(text, func(name string) string {
		if digest := byDigest.FindStringSubmatch(name)[1]; !strings.Contains(index, digest) {
			c.Errorf("a file of deploy names the server's image %s, the archive has %s", digest, index)
		}
		return c.server
	})
}

// buildExecutor builds the executor's image from the files of deploy alone, as Compose does.
func (c *composition) buildExecutor(image string) {
	c.Helper()
	folder := filepath.Dir(c.folder)
	text, err := os.ReadFile(filepath.Join(folder, "Dockerfile"))
	if err != nil {
		c.Fatal(err)
	}
	file := filepath.Join(folder, "Dockerfile.local")
	write(c.T, file, c.local(string(text)))
	c.network.addBases(c.T, file)
	c.network.build(c.T, image, file, filepath.Dir(folder), "--target", "executor")
}

// addClickHouse makes an image of Debian with ClickHouse as internal/clickhoused runs it, whose user
// is called carillon.
func (e *engine) addClickHouse(t *testing.T) {
	t.Helper()
	e.addDebian(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "Dockerfile")
	if err := os.WriteFile(filepath.Join(folder, "clickhoused"), built(t, "github.com/carillon-scheduler/carillon/internal/clickhoused"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, file, "FROM "+debianImage+"\nCOPY clickhoused /usr/bin/clickhoused\nENV XDG_CACHE_HOME=/cache\n"+
		`ENTRYPOINT ["clickhoused", "serve", "-exposed", "-password", "carillon", "/var/lib/clickhouse"]`+"\n")
	e.build(t, clickhouseImage, file, folder)
}

// clickhouse starts ClickHouse, with this machine's copy of its library.
func (c *composition) clickhouse() {
	c.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		c.Fatal(err)
	}
	c.up("clickhouse", "--volume", filepath.Join(cache, "carillon", "clickhouse")+":/cache/carillon/clickhouse:ro")
}

func TestTheComposeFileRunsAClusterThatLosesAServer(t *testing.T) {
	c := newComposition(t, released(t))
	c.sh(strings.Fields(c.step("./setup.sh"))[0])
	for _, name := range []string{"nats1", "nats2", "nats3"} {
		c.up(name)
	}
	c.clickhouse()
	first, second := c.up("server1"), c.up("server2")
	login := strings.Fields(c.step("carillon login"))
	c.signIn(login[2], first, second)
	c.sh(c.step("carillon credential create"))
	c.up("executor")
	c.await("carillon get groups", "online")
	c.await("carillon get bus", "3 replicas")
	c.await("carillon get nodes", "")
	for i := range 8 { // of many shards, so that either server owns some
		c.write("more.yaml", fmt.Sprintf("job: default/more-%d\nschedule: {fixed_rate: 1s}\nmisfire: {policy: fire_all}\ntask: {shell: 'echo hello'}\n", i))
		c.await("carillon apply -f more.yaml", "default/more")
	}
	c.tick("{shell: 'echo hello'}")
	c.awaitFires(3)
	second.kill()
	c.awaitFires(15)
	c.checkLedger()
}
