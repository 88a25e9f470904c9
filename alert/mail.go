package alert

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	gomail "github.com/wneessen/go-mail"

	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// sendMail sends a message by the channel's mail server. It dials through the guard, as a
// mail server's address is chosen by people too.
func (s *sender) sendMail(ctx context.Context, c *alerting.Channel, secrets map[string]string, m *Message) error {
	e := c.Email
	msg := gomail.NewMsg()
	if err := msg.From(e.From); err != nil {
		return fmt.Errorf("write from: %w", err)
	}
	if err := msg.To(e.To...); err != nil {
		return fmt.Errorf("write to: %w", err)
	}
	msg.Subject("[Carillon] " + clip.Runes(m.Title, 200))
	msg.SetDate()
	// The same each time that it is sent: many a mail server drops a repeat.
	msg.SetMessageIDWithValue(m.Key + "@carillon." + e.Host)
	// The mails of an incident make a thread.
	msg.SetGenHeader("References", "<"+m.Incident.ID+"@carillon."+e.Host+">")
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, m.Title+"\n\n"+m.Text+"\n")

	// The library leaves the connection open when it fails before the mail.
	var opened net.Conn
	defer func() {
		if opened != nil {
			_ = opened.Close()
		}
	}()
	policy, auth := gomail.TLSMandatory, gomail.SMTPAuthAutoDiscover
	switch e.TLS {
	case alerting.TLSNone:
		policy = gomail.NoTLS
	case alerting.TLSImplicit: // dialMail speaks TLS from the first byte; PLAIN sees that, the automatic choice takes the connection for plain
		policy, auth = gomail.NoTLS, gomail.SMTPAuthPlain
	}
	options := []gomail.Option{
		gomail.WithPort(e.Port), gomail.WithTimeout(sendTimeout), gomail.WithTLSConfig(s.tls(e.Host)), gomail.WithTLSPolicy(policy),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			opened, err = s.dialMail(ctx, e, network, address)
			return opened, err
		}),
	}
	if e.User != "" {
		options = append(options, gomail.WithSMTPAuth(auth), gomail.WithUsername(e.User), gomail.WithPassword(secrets[alerting.SecretPassword]))
	}
	client, err := gomail.NewClient(e.Host, options...)
	if err != nil {
		return fmt.Errorf("make mail client: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return withoutAddress(ctx, err)
	}
	return nil
}

func (s *sender) tls(host string) *tls.Config {
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}
}

func (s *sender) dialMail(ctx context.Context, e *alerting.Email, network, address string) (net.Conn, error) {
	conn, err := s.guard.Dial(ctx, network, address)
	if err != nil || e.TLS != alerting.TLSImplicit {
		return conn, err
	}
	secure := tls.Client(conn, s.tls(e.Host))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("speak TLS with the mail server: %w", err)
	}
	return secure, nil
}
