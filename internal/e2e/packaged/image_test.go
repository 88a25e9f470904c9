//go:build linux

package packaged

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// own is the task of jobs for an executor in the server's image, which has no other program.
const own = "{command: [carillon, version, --client]}"

func TestTheServersImageRunsWithoutRightsAndSurvivesAKill(t *testing.T) {
	r := released(t)
	c := newCluster(t, r)
	image := c.network.load(t, r)
	c.survives(images{server: image, executor: image}, own)
}

// survives runs a task each second, kills every container, and wants all fires of the time.
func (c *cluster) survives(i images, task string) {
	c.Helper()
	nats := c.nats(i.server)
	started := time.Now()
	server := c.server(i.server)
	c.signIn(c.url(), server)
	executor := c.join(i.executor)
	c.tick(task)
	c.awaitFires(1)
	c.Logf("%s from the start of the server's container to the first run that succeeded", time.Since(started).Round(100*time.Millisecond))
	c.checkConsole()

	for _, killed := range []*container{server, nats, executor} {
		killed.kill()
	}
	for _, again := range []*container{nats, server, executor} {
		again.Begin(c.T)
	}
	c.awaitFires(5)
	c.checkLedger()
}

var asset = regexp.MustCompile(`src="(?:\./|/)(assets/[^"]+\.js)"`)

// checkConsole wants the console's page, and the script that it names.
func (c *cluster) checkConsole() {
	c.Helper()
	page := c.get("/")
	script := asset.FindStringSubmatch(page)
	if script == nil {
		c.Fatalf("the console has no script: %s", page)
	}
	if text := c.get("/" + script[1]); !strings.Contains(text, "import") {
		c.Errorf("%s is no script: %.80s", script[1], text)
	}
}

// get returns what the server has at a path.
func (c *cluster) get(path string) string {
	c.Helper()
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(filepath.Join(c.folder, "secrets/tls/ca.pem"))
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		c.Fatalf("read the authority: %v", err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.url()+path, nil)
	if err != nil {
		c.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.Fatal(fmt.Errorf("GET %s: %s, %w", path, response.Status, err))
	}
	return string(text)
}
