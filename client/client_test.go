package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answers is a transport that gives every request the same answer.
type answers struct {
	status int
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestTheEnvironmentNamesServerAndToken(t *testing.T) {
	t.Setenv("CARILLON_SERVER", "carillon.example.com:8822/")
	t.Setenv("CARILLON_TOKEN", "carillon_test")
	c, err := FromEnvironment()
	if err != nil || c.server != "http://carillon.example.com:8822" || c.token != "carillon_test" {
		t.Errorf("the client is of %s with %s: %v", c.server, c.token, err)
	}
	t.Setenv("CARILLON_SERVER", "")
	if c, err = FromEnvironment(); err != nil || c.server != DefaultServer {
		t.Errorf("without CARILLON_SERVER, the client is of %s: %v", c.server, err)
	}
	t.Setenv("CARILLON_SERVER", "ftp://carillon.example.com")
	if _, err = FromEnvironment(); !errors.Is(err, ErrInvalidParams) || !strings.HasPrefix(err.Error(), "server: ") {
		t.Errorf("ftp is refused with %v", err)
	}
}

func TestWaitEndsWithItsContextWhileServersAreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{HTTP: &http.Client{Transport: answers{status: http.StatusServiceUnavailable}}})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := c.Wait(ctx, "id"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 10*time.Minute {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

func TestRunEndsWithItsContextBetweenRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{HTTP: &http.Client{Transport: answers{status: http.StatusServiceUnavailable}}})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err = c.Run(ctx, "mail/welcome", nil)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) || time.Since(begun) != 5*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}
