//go:build unix

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// selfSigned writes a certificate of its own authority for loopback, and its key.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "carillon e2e"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
}

// person is somebody at a terminal, with a file of contexts of their own.
type person struct {
	t   *testing.T
	env []string
}

func newPerson(t *testing.T, certFile string) *person {
	t.Helper()
	return &person{t, append(os.Environ(), "SSL_CERT_FILE="+certFile, "CARILLON_CONFIG="+filepath.Join(t.TempDir(), "contexts.json"))}
}

// run runs a command line, and wants an exit code and what it says to have the words.
func (p *person) run(code int, stdin, args string, words ...string) string {
	p.t.Helper()
	cmd := exec.Command(processtest.Program(p.t, "carillon"), strings.Fields(args)...)
	cmd.Env, cmd.Stdin = p.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("carillon %s: exit code %d, want %d: %s", args, got, code, out)
	}
	for _, word := range words {
		if !strings.Contains(string(out), word) {
			p.t.Errorf("carillon %s: says nothing of %q: %s", args, word, out)
		}
	}
	return string(out)
}

// try runs a command line, and returns what it says, however it ends.
func (p *person) try(args string) string {
	p.t.Helper()
	cmd := exec.Command(processtest.Program(p.t, "carillon"), strings.Fields(args)...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(out)
}

// What docs/README.md says a stranger does: a server with TLS, the first
// administrator, a read-only user, a token, and the audit of it all.
func TestAStrangerSetsUpAServerThatOthersCanUse(t *testing.T) {
	t.Parallel()
	certFile, keyFile := selfSigned(t)
	ports := processtest.FreePorts(t, 2)
	folder := t.TempDir()
	conf := filepath.Join(folder, "nats.conf")
	if err := os.WriteFile(conf, []byte(embedded.DefaultConf), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := processtest.New(t, "nats", nil, processtest.Program(t, "natsd"), conf, filepath.Join(folder, "nats"), "nats", fmt.Sprintf("127.0.0.1:%d", ports[0]))
	broker.Begin(t)
	address := fmt.Sprintf("https://127.0.0.1:%d", ports[1])
	server := processtest.New(t, "server", nil, processtest.Program(t, "carillon"), "server", "--nats", fmt.Sprintf("nats://127.0.0.1:%d", ports[0]),
		"--http", fmt.Sprintf("0.0.0.0:%d", ports[1]), "--public-url", address, "--tls-cert", certFile, "--tls-key", keyFile, "--data", filepath.Join(folder, "data"))
	server.Begin(t)
	var link []string
	processtest.Await(t, processtest.Patience, "wait for the link to create the administrator", func() error {
		if link = processtest.LinkPattern.FindStringSubmatch(server.Said()); link == nil {
			return errors.New("nothing yet")
		}
		return nil
	})

	const password = "correct horse battery staple\n"
	ann, bob := newPerson(t, certFile), newPerson(t, certFile)
	bob.run(6, "", "get jobs --server "+address, "carillon login")
	processtest.Await(t, processtest.Patience, "sign in", func() error {
		cmd := exec.Command(processtest.Program(t, "carillon"), "login", "--user", "ann", "--link", link[1])
		cmd.Env, cmd.Stdin = ann.env, strings.NewReader(password)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	ann.run(0, "", "whoami", "ann", "token", "admin", address)
	ann.run(3, password, "login --user eve --link "+link[1], "ask for a new one")

	invited := ann.run(0, "", "user create bob --role viewer:billing", "bob chooses a password", address)
	_, hers, _ := strings.Cut(invited, "https://")
	bob.run(0, password, "login --user bob --link https://"+strings.TrimSpace(hers), "bob is signed in")
	job := filepath.Join(folder, "job.yaml")
	if err := os.WriteFile(job, []byte("job: billing/report\ntask: {shell: echo hi}\n---\njob: ops/other\ntask: {shell: echo hi}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bob.run(6, "", "apply -f "+job, "editor in group")
	ann.run(0, "", "apply -f "+job, "2 created")
	if out := bob.run(0, "", "get jobs", "billing/report"); strings.Contains(out, "ops/other") {
		t.Errorf("bob sees another group's job: %s", out)
	}
	if out := bob.run(0, "", "get job billing/report -o json", "(hidden)"); strings.Contains(out, "echo hi") {
		t.Errorf("bob sees the script: %s", out)
	}
	if out := bob.run(6, "", "pause billing/report", "the role operator"); strings.Contains(out, "no jobs") {
		t.Errorf("what bob may not do is answered as if there were nothing: %s", out)
	}
	bob.run(6, "", "audit-log", "admin everywhere")

	var made struct {
		Secret string `json:"secret"`
		Token  struct {
			ID string `json:"id"`
		} `json:"token"`
	}
	if err := json.Unmarshal([]byte(ann.run(0, "", "token create ci --role operator:billing --expires-in 1d -o json")), &made); err != nil {
		t.Fatal(err)
	}
	ci := newPerson(t, certFile)
	ci.env = append(ci.env, "CARILLON_TOKEN="+made.Secret, "CARILLON_SERVER="+address)
	ci.run(0, "", "pause billing/report", "paused")
	ci.run(6, "", "pause ops/other", "operator in group ops")
	ann.run(0, "", "token revoke "+made.Token.ID)
	ci.run(6, "", "get jobs")
	ann.run(0, "", "user disable bob", "disabled")
	bob.run(6, "", "get jobs", "carillon login")
	ann.run(6, "not the password\n", "login "+address+" --user ann", "wrong")

	ann.run(0, "", "audit-log", "acceptInvitation", "putUser", "createToken", "job billing/report", "pauseJob", "revokeToken", "127.0.0.1")
	ann.run(0, "", "audit-log --export csv --object job", "at,user,how,token", "ann,token,")
	ann.run(0, "", "logout", "signed out")
	ann.run(6, "", "get jobs --server "+address)
}
