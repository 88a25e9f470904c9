package node

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi"
)

// certificate is that of the API, in files that somebody renews.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	written time.Time // when the file was that is loaded
	looked  time.Time
}

// lookEvery is how often the files are looked at.
const lookEvery = 10 * time.Second

// serveTLS has the API speak TLS with the certificate in two files, if they are given.
func serveTLS(web *webapi.Config, certFile, keyFile string) (err error) {
	if certFile+keyFile != "" {
		web.TLS, err = certificateOf(certFile, keyFile)
	}
	return err
}

// certificateOf returns the configuration of a server with the certificate in two files.
func certificateOf(certFile, keyFile string) (*tls.Config, error) {
	if certFile == "" || keyFile == "" {
		return nil, &job.InvalidError{Field: "tls-cert", Reason: "and tls-key must be set together"}
	}
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if _, err := c.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}}, nil
}

// get implements the hook of [tls.Config]. A certificate that cannot be read any more
// leaves the one before in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.loaded != nil && now.Sub(c.looked) < lookEvery {
		return c.loaded, nil
	}
	c.looked = now
	info, err := os.Stat(c.certFile)
	if err == nil && c.loaded != nil && info.ModTime().Equal(c.written) {
		return c.loaded, nil
	}
	if err == nil {
		var next tls.Certificate
		if next, err = tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
			c.loaded, c.written = &next, info.ModTime()
		}
	}
	if c.loaded != nil {
		return c.loaded, nil
	}
	return nil, fmt.Errorf("read TLS certificate: %w", err)
}
