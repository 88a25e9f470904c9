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
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// sender sends messages to channels. It is safe for concurrent use.
type sender struct {
	client *http.Client
	guard  *outbound.Guard
	key    *seal.Key      // nil: there are no secrets
	link   string         // where the console is
	roots  *x509.CertPool // that mail servers are checked against; nil: the system's
}

// send sends a message to a channel, and returns what the other side said, also with an
// error. The error is fit for people to read; neither has a secret.
func (s *sender) send(ctx context.Context, c *Entry[alerting.Channel], m *Message) (*alerting.Answer, error) {
	begun := time.Now()
	secrets, err := s.open(c)
	if err != nil {
		return nil, err
	}
	came, err := s.sendBy(ctx, &c.Doc, secrets, m)
	answer := &alerting.Answer{Status: came.status, Took: job.Duration(time.Since(begun).Round(time.Millisecond))}
	body := strings.ToValidUTF8(string(came.body), "�")
	for _, secret := range secrets {
		if secret != "" {
			body = strings.ReplaceAll(body, secret, "***")
		}
	}
	answer.Body = clip.Runes(body, keptAnswer)
	return answer, err
}

// reply is an answer as it came.
type reply struct {
	status string
	body   []byte
}

func (s *sender) sendBy(ctx context.Context, c *alerting.Channel, secrets map[string]string, m *Message) (reply, error) {
	switch c.Kind {
	case alerting.KindEmail:
		return reply{}, s.sendMail(ctx, c, secrets, m)
	case alerting.KindWebhook:
		return s.sendWebhook(ctx, c, secrets, m)
	case alerting.KindPagerDuty:
		return s.sendPage(ctx, c, secrets, m)
	case alerting.KindSlack, alerting.KindTeams, alerting.KindDingTalk, alerting.KindWeCom, alerting.KindFeishu:
		return s.sendChat(ctx, c, secrets, m)
	}
	return reply{}, fmt.Errorf("channels of kind %q are not known to this program", c.Kind)
}

// open returns the secrets of a channel.
func (s *sender) open(c *Entry[alerting.Channel]) (map[string]string, error) {
	if missing := c.Doc.Missing(c.Sealed); len(missing) > 0 {
		return nil, &alerting.Failure{Sentence: alerting.Say("secret_missing", "secret", missing[0])}
	}
	secrets := map[string]string{}
	for name, sealed := range c.Sealed {
		if s.key == nil {
			return nil, &alerting.Failure{Sentence: alerting.Say("no_master_key")}
		}
		value, err := s.key.Open(c.Doc.Channel+"/"+name, sealed)
		if err != nil {
			return nil, &alerting.Failure{Sentence: alerting.Say("secret_closed", "secret", name)}
		}
		secrets[name] = value
	}
	return secrets, nil
}

// How much of an answer is read, in bytes, and how much of that is kept, in characters.
const (
	maxAnswer  = 4 << 10
	keptAnswer = 500
)

// call sends a request, and returns the answer's status and the beginning of its body. It
// is an error if they do not say that all went well.
func (s *sender) call(ctx context.Context, address string, header http.Header, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return reply{}, errors.New("the address is not one")
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "Carillon")
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{}, withoutAddress(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	answer := reply{resp.Status, text}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return answer, &alerting.Failure{Sentence: alerting.Say("redirected", "answer", resp.Status)}
	case resp.StatusCode/100 != 2:
		return answer, &alerting.Failure{Sentence: alerting.Say("answered", "answer", resp.Status, "body", fmt.Sprintf("%.200s", oneLine(string(text))))}
	case err != nil:
		return answer, withoutAddress(ctx, err)
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
func (s *sender) sendWebhook(ctx context.Context, c *alerting.Channel, secrets map[string]string, m *Message) (reply, error) {
	body, err := webhookBody(c, m)
	if err != nil {
		return reply{}, err
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
	if secret := secrets[alerting.SecretSign]; secret != "" {
		header.Set("Carillon-Signature", sign(secret, time.Now(), body))
	}
	return s.call(ctx, c.URL, header, body)
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

func webhookBody(c *alerting.Channel, m *Message) ([]byte, error) {
	if c.Body == "" {
		return json.Marshal(m)
	}
	t, err := alerting.ParseTemplate(c.Body)
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
