package sdk_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/executor"
)

// certificates writes the files of an authority and of a certificate by it, for servers and clients.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	template := func(serial int64, authority bool) (*x509.Certificate, *ecdsa.PrivateKey) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: fmt.Sprintf("test %d", serial)},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: authority, BasicConstraintsValid: true,
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		}, k
	}
	root, rootKey := template(1, true)
	leaf, leafKey := template(2, false)
	sign := func(c *x509.Certificate, k *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, root, &k.PublicKey, rootKey)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", sign(root, rootKey)), write("cert.pem", "CERTIFICATE", sign(leaf, leafKey)), write("key.pem", "PRIVATE KEY", der)
}

func TestAnExecutorConnectsToAServerThatAsksForAClientCertificate(t *testing.T) {
	ca, cert, key := certificates(t)
	conf := filepath.Join(t.TempDir(), "nats.conf")
	text := fmt.Sprintf(`listen: "127.0.0.1:-1", jetstream { store_dir: %q }
tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }`, t.TempDir(), cert, key, ca)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := embedded.Start(embedded.Config{ConfigFile: conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown() })
	t.Setenv("CARILLON_GROUP", "billing")
	t.Setenv("CARILLON_NATS", strings.Replace(srv.ClientURL(), "nats://", "tls://", 1))
	t.Setenv("CARILLON_NATS_CA", ca)

	// Without a certificate the server closes each connection.
	if _, err := jet.Connect(jet.Config{URL: os.Getenv("CARILLON_NATS"), CAFile: ca}); err == nil {
		t.Error("connected without a certificate")
	}
	t.Setenv("CARILLON_NATS_CERT", cert)
	t.Setenv("CARILLON_NATS_KEY", key)
	e, err := executor.Connect(t.Context(), executor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Run(over); err != nil { // closes the connection
		t.Error(err)
	}
}
