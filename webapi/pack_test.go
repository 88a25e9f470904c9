package webapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAnswersArePackedForWhoTakesThat(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.put(job.Name(fmt.Sprintf("billing/job-%d", i)), "@daily")
	}
	fetch := func(accept string) (http.Header, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/v1/jobs", http.NoBody)
		w.check(err)
		r.Header.Set("Accept-Encoding", accept)
		response, err := http.DefaultClient.Do(r)
		w.check(err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		w.check(err)
		return response.Header, body
	}
	_, plain := fetch("identity")
	for encoding, unpack := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	} {
		headers, packed := fetch(encoding)
		if headers.Get("Content-Encoding") != encoding || headers.Get("Vary") == "" || len(packed) > len(plain)/5 {
			t.Errorf("%s: %d of %d bytes, %v", encoding, len(packed), len(plain), headers)
		}
		r, err := unpack(bytes.NewReader(packed))
		w.check(err)
		whole, err := io.ReadAll(r)
		w.check(err)
		if len(whole) != len(plain) {
			t.Errorf("%s: %d bytes unpacked, want %d", encoding, len(whole), len(plain))
		}
	}
}
