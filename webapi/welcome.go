package webapi

import (
	"context"
	"net"
	"strings"
	"time"
)

// welcomeRest is how long to wait before trying again to invite.
const welcomeRest = time.Second

// welcome writes a one-time link into the log by which the first administrator is
// created, if there is none and one is needed. There is no default password.
func (s *Server) welcome(ctx context.Context) {
	if s.cfg.Local {
		return
	}
	rest := time.NewTicker(welcomeRest)
	defer rest.Stop()
	for {
		has, err := s.users.Users().HasAdministrator(ctx)
		if has {
			return
		}
		if err == nil {
			var secret string
			var expires time.Time
			if secret, expires, err = s.users.InviteAdministrator(ctx); err == nil {
				s.log.WarnContext(ctx, "no administrator yet: open the link to create one", "link", s.link(secret), "expires_at", expires)
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "no link made for an administrator", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
		}
	}
}

// link returns where people accept an invitation. The secret is in the fragment, which
// browsers keep to themselves: no log and no proxy sees it.
func (s *Server) link(secret string) string { return s.publicURL() + "/sign-in#invitation=" + secret }

// publicURL returns where people reach the server, without a slash at the end.
func (s *Server) publicURL() string {
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/")
	}
	scheme, address := "http://", s.listener.Addr().String()
	if s.cfg.TLS != nil {
		scheme = "https://"
	}
	if host, port, err := net.SplitHostPort(address); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			address = net.JoinHostPort("localhost", port)
		}
	}
	return scheme + address
}
