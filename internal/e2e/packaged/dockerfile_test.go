//go:build linux

package packaged

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// images are those that a cluster runs.
type images struct{ server, executor string }

// dockerfile returns the images that deploy/Dockerfile builds for somebody who has cloned the repository
// at a commit.
func (e *engine) dockerfile(t *testing.T, commit string, targets ...string) (built []string) {
	t.Helper()
	folder := cloned(t, commit)
	file := filepath.Join(folder, "deploy", "Dockerfile")
	e.addBases(t, file)
	for _, target := range targets {
		image := "localhost/carillon:" + target + "-" + commit
		e.build(t, image, file, folder, append(e.goCaches(t), "--target", target)...)
		built = append(built, image)
	}
	return built
}

// cloned returns a folder with the repository at a commit.
func cloned(t *testing.T, commit string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "carillon")
	root := strings.TrimSpace(git(t, "rev-parse", "--show-toplevel"))
	git(t, "clone", "--quiet", "--no-checkout", root, folder)
	git(t, "-C", folder, "checkout", "--quiet", "--detach", commit)
	return folder
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	need(t, "git")
	return output(t, exec.Command("git", args...))
}

// fromImage is where a file of instructions names an image of others.
var fromImage = regexp.MustCompile(`(?m)^FROM (\S+)`)

// addBases makes what stands for the images that a file of instructions is based on.
func (e *engine) addBases(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range fromImage.FindAllStringSubmatch(string(text), -1) {
		switch image := from[1]; {
		case "docker.io/library/"+image == debianImage:
			e.addDebian(t)
		case strings.HasPrefix(image, "golang:"):
			e.addGo(t, "docker.io/library/"+image)
		case strings.HasPrefix(image, "gcr.io/distroless/static-"):
			e.addDistroless(t, image)
		default:
			t.Fatalf("%s is based on the image %q, which the test does not know", file, image)
		}
	}
}

// addGo makes an image of Debian with git. Go is this machine's (goCaches).
func (e *engine) addGo(t *testing.T, image string) {
	t.Helper()
	if e.has(image) {
		return
	}
	e.addDebian(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "Dockerfile")
	write(t, file, "FROM "+debianImage+"\nRUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git\n"+
		"ENV GOPATH=/go GOCACHE=/cache GOTOOLCHAIN=local SSL_CERT_FILE=/authorities.pem PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n")
	e.build(t, image, file, folder)
}

// goCaches mounts this machine's Go, its modules, and what it has built while an image is built: so
// that takes a minute.
func (e *engine) goCaches(t *testing.T) (options []string) {
	t.Helper()
	options = []string{"--volume", "/etc/ssl/certs/ca-certificates.crt:/authorities.pem:ro"} // whom this machine trusts, for modules that are missing
	for name, at := range map[string]string{"GOROOT": "/usr/local/go:ro", "GOMODCACHE": "/go/pkg/mod", "GOCACHE": "/cache"} {
		options = append(options, "--volume", strings.TrimSpace(output(t, exec.Command("go", "env", name)))+":"+at)
	}
	return options
}

// addDistroless makes an image with all that the server needs of distroless: its user, and a folder
// for temporary files.
func (e *engine) addDistroless(t *testing.T, image string) {
	t.Helper()
	if e.has(image) {
		return
	}
	e.addFiles(t, image, map[string][]byte{
		"etc/passwd": []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"),
		"etc/group":  []byte("root:x:0:\nnonroot:x:65532:\n"),
	}, "USER 65532", "WORKDIR /home/nonroot", "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
}

func TestTheDockerfilesImagesRunWithoutRightsAndSurviveAKill(t *testing.T) {
	c := newCluster(t, released(t))
	commit := strings.TrimSpace(git(t, "rev-parse", "HEAD"))
	built := c.network.dockerfile(t, commit, "server", "executor")
	for _, image := range built {
		version := output(t, c.network.command("run", "--rm", "--network", "none", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=2048:2048", image, "version", "--client"))
		if !strings.Contains(version, commit[:12]) {
			t.Errorf("the program in %s is %s, want the commit %s", image, version, commit)
		}
	}
	c.survives(images{server: built[0], executor: built[1]}, "{shell: 'id -u | grep -x 65532 && curl --version && python3 -c \"print(1)\"'}")
}
