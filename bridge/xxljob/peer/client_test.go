package peer

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// XXL-JOB checks no certificates.
func TestCertificatesOfExecutorsAreTrustedAsTheOperatorSays(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"code":200}`)) }))
	s.Config.ErrorLog = nil
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	f := func(trust Trust, want bool) {
		t.Helper()
		c := New((&net.Dialer{}).DialContext, 10*time.Second, trust)
		defer c.Close()
		if err := c.Beat(t.Context(), Target{Address: s.URL}); (err == nil) != want {
			t.Errorf("%v: %v", trust.Hosts, err)
		}
	}
	f(Trust{}, false)
	f(Trust{CAs: pool}, true)
	f(Trust{Hosts: []string{"127.0.0.1"}}, true)
	f(Trust{Hosts: []string{"127.0.0.2"}}, false)
}
