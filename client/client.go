package client

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// DefaultServer is where "carillon dev" listens.
const DefaultServer = "http://127.0.0.1:8822"

// Client is the API of a server. It is safe for concurrent use.
type Client struct {
	server string // without a slash at its end
	token  string
	http   *http.Client

	now   func() time.Time
	pause func(context.Context, time.Duration) error
}

// Config is what a client needs.
type Config struct {
	// Server is an address such as https://carillon.example.com. Defaults to DefaultServer.
	Server string
	// Token is an API token. Defaults to none, as for "carillon dev".
	Token string
	// HTTP sends the requests, for example with certificates of your own. Its CheckRedirect and Timeout are
	// replaced. Defaults to a client with the transport of package http.
	HTTP *http.Client
}

// FromEnvironment returns a client for the server in CARILLON_SERVER with the token in CARILLON_TOKEN. The
// errors are those of New.
func FromEnvironment() (*Client, error) {
	return New(Config{Server: os.Getenv("CARILLON_SERVER"), Token: os.Getenv("CARILLON_TOKEN")})
}

// New returns a client. It sends nothing yet. The error is an [ErrInvalidParams] for field "server".
func New(config Config) (*Client, error) {
	server := config.Server
	if server == "" {
		server = DefaultServer
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	if u, err := url.Parse(server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, invalid("server", "must be an address such as https://carillon.example.com")
	}
	sender := http.Client{}
	if config.HTTP != nil {
		sender = *config.HTTP
	}
	sender.Timeout = requestTimeout
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{server: strings.TrimSuffix(server, "/"), token: config.Token, http: &sender, now: time.Now, pause: pause}, nil
}

// pause waits for d, or until ctx is done; its error is then the cause.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
