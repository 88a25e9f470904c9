package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"carillon/internal/outbound"
	"carillon/internal/seal"
)

// sender sends messages to channels. It is safe for concurrent use.
type sender struct {
	client *http.Client
	guard  *outbound.Guard
	key    *seal.Key      // nil: there are no secrets
	link   string         // where the console is
	roots  *x509.CertPool // that mail servers are checked against; nil: the system's
}

// send sends a message to a channel. Its error is fit for people to read, and has no
// secret.
func (s *sender) send(ctx context.Context, c *Entry[Channel], m *Message) error {
	secrets, err := s.open(c)
	if err != nil {
		return err
	}
	switch c.Doc.Kind {
	case KindEmail:
		return s.sendMail(ctx, &c.Doc, secrets, m)
	case KindWebhook:
		return s.sendWebhook(ctx, &c.Doc, secrets, m)
	case KindPagerDuty:
		return s.sendPage(ctx, &c.Doc, secrets, m)
	case KindSlack, KindTeams, KindDingTalk, KindWeCom, KindFeishu:
		return s.sendChat(ctx, &c.Doc, secrets, m)
	}
	return fmt.Errorf("channels of kind %q are not known to this program", c.Doc.Kind)
}

// open returns the secrets of a channel.
func (s *sender) open(c *Entry[Channel]) (map[string]string, error) {
	if missing := c.Doc.Missing(c.Sealed); len(missing) > 0 {
		return nil, fmt.Errorf("the channel has no secret %q yet", missing[0])
	}
	secrets := map[string]string{}
	for name, sealed := range c.Sealed {
		if s.key == nil {
			return nil, errors.New("this server has no master key, which opens the channel's secrets")
		}
		value, err := s.key.Open(c.Doc.Channel+"/"+name, sealed)
		if err != nil {
			return nil, fmt.Errorf("the channel's secret %q was sealed with another master key; set it again", name)
		}
		secrets[name] = value
	}
	return secrets, nil
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 4 << 10

// call sends a request, and returns the beginning of the answer's body if its status says
// that all went well.
func (s *sender) call(ctx context.Context, address string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address is not one")
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "Carillon")
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, withoutAddress(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return nil, fmt.Errorf("answered %s: redirects are not followed", resp.Status)
	case resp.StatusCode/100 != 2:
		return nil, fmt.Errorf("answered %s: %.200s", resp.Status, oneLine(string(answer)))
	case err != nil:
		return nil, withoutAddress(ctx, err)
	}
	return answer, nil
}

// withoutAddress returns an error of package http without the address, which may be a
// secret.
func withoutAddress(ctx context.Context, err error) error {
	if forbidden, ok := errors.AsType[*outbound.ForbiddenError](err); ok {
		return forbidden
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// sendWebhook sends a message as JSON, or as the channel's template has it, signed if there
// is a secret to sign it with.
func (s *sender) sendWebhook(ctx context.Context, c *Channel, secrets map[string]string, m *Message) error {
	body, err := webhookBody(c, m)
	if err != nil {
		return err
	}
	header := http.Header{}
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	header.Set("Idempotency-Key", m.Key)
	header.Set("Carillon-Event", string(m.Event))
	if !json.Valid(body) && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	if secret := secrets[SecretSign]; secret != "" {
		header.Set("Carillon-Signature", sign(secret, time.Now(), body))
	}
	_, err = s.call(ctx, c.URL, header, body)
	return err
}

// sign returns the value of Carillon-Signature: the instant, and the HMAC-SHA256 of the
// instant, a dot and the body. The instant lets the other side refuse what is replayed.
func sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(t + "."))
	_, _ = mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// maxBody bounds what a template makes, in bytes.
const maxBody = 256 << 10

func webhookBody(c *Channel, m *Message) ([]byte, error) {
	if c.Body == "" {
		return json.Marshal(m)
	}
	t, err := parseTemplate(c.Body)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	w := &limited{left: maxBody}
	if err := t.Execute(w, m); err != nil {
		return nil, fmt.Errorf("fill in template: %w", err)
	}
	return w.Bytes(), nil
}

// limited is a buffer that takes so much and no more.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, fmt.Errorf("the body is longer than %d bytes", maxBody)
	}
	return l.Buffer.Write(p)
}
