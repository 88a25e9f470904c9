package alert

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// call is a request that reached the other side.
type call struct {
	header http.Header
	path   string
	query  string
	body   []byte
}

// otherSide is a server that remembers what it was sent.
func otherSide(t *testing.T, answer func(w http.ResponseWriter)) (url string, calls *[]call) {
	t.Helper()
	calls = &[]call{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*calls = append(*calls, call{r.Header, r.URL.Path, r.URL.RawQuery, body})
		if answer != nil {
			answer(w)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

// newTestSender returns a sender as an alerter has it, and the key of its secrets.
func newTestSender(t *testing.T, cfg Config) (*sender, *seal.Key) {
	t.Helper()
	master := seal.NewMaster()
	cfg.MasterKey, cfg.PublicURL = master.Text(), "https://carillon.test"
	a, err := New(nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a.out, keyOf(master)
}

// entry returns a channel with secrets, given as name and value in turns.
func entry(key *seal.Key, c alerting.Channel, secrets ...string) *Entry[alerting.Channel] {
	e := &Entry[alerting.Channel]{Doc: c.WithDefaults(), Sealed: map[string][]byte{}}
	for i := 0; i < len(secrets); i += 2 {
		e.Sealed[secrets[i]] = key.Seal(c.Channel+"/"+secrets[i], secrets[i+1])
	}
	return e
}

// failing returns a message about a job that failed.
func failing(s *sender, kind alerting.DeliveryKind) *Message {
	at := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	inc := &alerting.Incident{
		ID: "i1", Rule: "nightly", Subject: "job billing/report", Group: "billing", Severity: alerting.Critical, State: alerting.Open, Summary: "billing/report failed", OpenedAt: at, Count: 1,
		Jobs: []alerting.Affected{{Job: "billing/report", RunID: job.FireRunID("billing/report", at.UnixMilli(), job.CauseSchedule), Status: job.StatusFailed, Message: "disk <full>", Count: 1}},
	}
	return s.message(inc, &alerting.Delivery{ID: "1", Kind: kind}, alerting.Reader{})
}

func TestAWebhookIsSignedAndHasAKey(t *testing.T) {
	url, calls := otherSide(t, nil)
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	m := failing(s, alerting.Opened)
	c := entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: url + "/in", Headers: map[string]string{"X-Team": "ops"}}, alerting.SecretSign, "s3cret")
	if _, err := s.send(t.Context(), c, m); err != nil {
		t.Fatal(err)
	}
	got := (*calls)[0]
	if got.header.Get("Idempotency-Key") != "i1-1" || got.header.Get("X-Team") != "ops" || got.header.Get("Carillon-Event") != "opened" {
		t.Errorf("headers %v", got.header)
	}
	at, _, _ := strings.Cut(strings.TrimPrefix(got.header.Get("Carillon-Signature"), "t="), ",")
	unix, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if want := sign("s3cret", time.Unix(unix, 0), got.body); got.header.Get("Carillon-Signature") != want {
		t.Errorf("signature %s, want %s", got.header.Get("Carillon-Signature"), want)
	}
	var body struct {
		Event    string `json:"event"`
		Link     string `json:"link"`
		Incident struct {
			Incident string `json:"incident"`
			Severity string `json:"severity"`
		} `json:"incident"`
	}
	if err := json.Unmarshal(got.body, &body); err != nil || body.Event != "opened" || body.Incident.Incident != "i1" || body.Incident.Severity != "critical" || body.Link != "https://carillon.test/alerts/incidents/i1" {
		t.Errorf("body %s: %v", got.body, err)
	}
}

func TestAWebhookSaysWhatItsTemplateHas(t *testing.T) {
	url, calls := otherSide(t, nil)
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	send := func(body string) error {
		_, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: url, Body: body}), failing(s, alerting.Opened))
		return err
	}
	if err := send(`{"text": {{json .Title}}, "jobs": [{{range $i, $j := .Incident.Jobs}}{{if $i}},{{end}}{{json $j.Job}}{{end}}]}`); err != nil {
		t.Fatal(err)
	}
	if err := send(`{{.Title}} since {{.Incident.OpenedAt.Format "15:04"}}`); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ body, kind string }{
		{`{"text": "billing/report failed", "jobs": ["billing/report"]}`, "application/json"},
		{`billing/report failed since 03:00`, "text/plain; charset=utf-8"},
	} {
		if got := (*calls)[i]; string(got.body) != want.body || got.header.Get("Content-Type") != want.kind {
			t.Errorf("sent %s as %s, want %s as %s", got.body, got.header.Get("Content-Type"), want.body, want.kind)
		}
	}
	if err := send(`{{.NoSuch}}`); err == nil || !strings.HasPrefix(err.Error(), "fill in template: ") {
		t.Errorf("a template with an unknown field: %v", err)
	}
	if err := send(strings.Repeat(`{{range .Text}}{{range $.Text}}{{range $.Text}}xxxxxxxxxxxxxxx{{end}}{{end}}{{end}}`, 9)); err == nil {
		t.Error("a template without end is sent")
	}
}

func TestChannelsReachNothingPrivate(t *testing.T) {
	url, calls := otherSide(t, nil)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	s, key := newTestSender(t, Config{})
	refused := func(c *Entry[alerting.Channel]) {
		t.Helper()
		var forbidden *outbound.ForbiddenError
		if _, err := s.send(t.Context(), c, failing(s, alerting.Opened)); !errors.As(err, &forbidden) || !strings.Contains(err.Error(), "--alert-allow") {
			t.Errorf("%v, want it forbidden", err)
		}
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "10.0.0.1"} {
		refused(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: "http://" + host + ":" + port}))
	}
	refused(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindSlack}, alerting.SecretURL, url))
	refused(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindPagerDuty, URL: url}, alerting.SecretRouting, "k"))
	refused(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindEmail, Email: &alerting.Email{Host: "localhost", Port: 25, From: "a@b.org", To: []string{"c@d.org"}}}))
	if len(*calls) != 0 {
		t.Errorf("%d requests arrived", len(*calls))
	}
}

func TestWhatTheOtherSideSaidIsKeptWithoutSecrets(t *testing.T) {
	f := func(status int, body, wantStatus, wantBody string, fails bool) {
		t.Helper()
		url, _ := otherSide(t, func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
		s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
		c := entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: url}, alerting.SecretSign, "s3cret")
		answer, err := s.send(t.Context(), c, failing(s, alerting.Opened))
		if (err != nil) != fails || answer == nil || answer.Status != wantStatus || answer.Body != wantBody || answer.Took < 0 {
			t.Errorf("%+v, %v; want %s %q", answer, err, wantStatus, wantBody)
		}
	}
	f(200, "thanks", "200 OK", "thanks", false)
	f(403, "no s3cret\nhere", "403 Forbidden", "no ***\nhere", true)
	f(200, strings.Repeat("字", 700), "200 OK", strings.Repeat("字", keptAnswer)+"…", false)

	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	gone := entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: "http://127.0.0.1:1"})
	if answer, err := s.send(t.Context(), gone, failing(s, alerting.Opened)); err == nil || answer == nil || answer.Status != "" || answer.Body != "" {
		t.Errorf("nobody answers with %+v, %v", answer, err)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	inner, reached := otherSide(t, nil)
	outer, _ := otherSide(t, func(w http.ResponseWriter) {
		w.Header().Set("Location", inner)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	_, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: outer}), failing(s, alerting.Opened))
	if err == nil || err.Error() != "answered 307 Temporary Redirect: redirects are not followed" || len(*reached) != 0 {
		t.Errorf("%v, and %d requests where it led", err, len(*reached))
	}
}

func TestAnErrorHasNoSecret(t *testing.T) {
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	for _, address := range []string{"http://127.0.0.1:1/T0/s3cret", "http://s3cret.invalid:99999/s3cret"} {
		_, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindSlack}, alerting.SecretURL, address), failing(s, alerting.Opened))
		if err == nil || strings.Contains(err.Error(), "/T0/") || strings.Contains(err.Error(), "/s3cret") {
			t.Errorf("error %v", err)
		}
	}
}

func TestEachChatGetsItsOwnForm(t *testing.T) {
	f := func(kind alerting.Kind, want ...string) call {
		t.Helper()
		url, calls := otherSide(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"errcode":0,"code":0}`) })
		s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
		secrets := []string{alerting.SecretURL, url + "/robot?access_token=x"}
		if kind == alerting.KindDingTalk || kind == alerting.KindFeishu {
			secrets = append(secrets, alerting.SecretSign, "SEC")
		}
		if _, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: kind}, secrets...), failing(s, alerting.Opened)); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got := (*calls)[0]
		for _, part := range want {
			if !strings.Contains(string(got.body), part) {
				t.Errorf("%s gets %s, which lacks %s", kind, got.body, part)
			}
		}
		return got
	}
	f(alerting.KindSlack, `"text":"billing/report failed"`, `"type":"mrkdwn"`, `disk \u0026lt;full\u0026gt;`, `|Open in Carillon\u003e`)
	f(alerting.KindTeams, `"contentType":"application/vnd.microsoft.card.adaptive"`, `"title":"severity","value":"critical"`, `"Action.OpenUrl"`)
	f(alerting.KindWeCom, `"msgtype":"markdown"`, `"content":"**billing/report failed**`)
	if got := f(alerting.KindDingTalk, `"msgtype":"markdown"`, `"title":"billing/report failed"`); !strings.Contains(got.query, "access_token=x") || !strings.Contains(got.query, "&sign=") || !strings.Contains(got.query, "&timestamp=") {
		t.Errorf("DingTalk is called with %s", got.query)
	}
	f(alerting.KindFeishu, `"msg_type":"post"`, `"zh_cn"`, `"sign":"`, `"timestamp":"`)
}

func TestAChatThatRefusesWithStatus200IsNotTold(t *testing.T) {
	url, _ := otherSide(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"errcode":310000,"errmsg":"sign not match"}`) })
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	_, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindDingTalk}, alerting.SecretURL, url), failing(s, alerting.Opened))
	if err == nil || err.Error() != "refused with code 310000: sign not match" {
		t.Errorf("error %v", err)
	}
}

func TestPagerDutyResolvesUnderTheKeyOfTheIncident(t *testing.T) {
	url, calls := otherSide(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) })
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	c := entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindPagerDuty, URL: url}, alerting.SecretRouting, "R1")
	for _, kind := range []alerting.DeliveryKind{alerting.Opened, alerting.Recovery} {
		if _, err := s.send(t.Context(), c, failing(s, kind)); err != nil {
			t.Fatal(err)
		}
	}
	for i, action := range []string{"trigger", "resolve"} {
		var event struct {
			RoutingKey  string `json:"routing_key"`
			EventAction string `json:"event_action"`
			DedupKey    string `json:"dedup_key"`
			Payload     struct {
				Severity string `json:"severity"`
			} `json:"payload"`
		}
		if err := json.Unmarshal((*calls)[i].body, &event); err != nil || event.RoutingKey != "R1" || event.EventAction != action || event.DedupKey != "i1" || i == 0 && event.Payload.Severity != "critical" {
			t.Errorf("event %s: %v", (*calls)[i].body, err)
		}
	}
}

func TestMailGoesOverTLSAndSignsIn(t *testing.T) {
	for _, mode := range []string{alerting.TLSStart, alerting.TLSImplicit, alerting.TLSNone} {
		server := newMailServer(t, mode)
		s, key := newTestSender(t, Config{Allow: []string{"localhost"}, Roots: server.roots})
		email := &alerting.Email{Host: "localhost", Port: server.port, TLS: mode, From: "Carillon <carillon@example.org>", To: []string{"ops@example.org", "dev@example.org"}}
		secrets := []string{}
		if mode != alerting.TLSNone {
			email.User = "carillon"
			secrets = []string{alerting.SecretPassword, "pa55"}
		}
		if _, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindEmail, Email: email}, secrets...), failing(s, alerting.Opened)); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		got := <-server.mails
		if got.secure != (mode != alerting.TLSNone) || mode != alerting.TLSNone && got.auth != "\x00carillon\x00pa55" || strings.Join(got.to, " ") != "<ops@example.org> <dev@example.org>" {
			t.Errorf("%s: secure %v, signed in with %q, to %v", mode, got.secure, got.auth, got.to)
		}
		for _, part := range []string{"Subject: [Carillon] billing/report failed", "Message-ID: <i1-1@carillon.localhost>", "disk <full>", "https://carillon.test/alerts/incidents/i1"} {
			if !strings.Contains(got.data, part) {
				t.Errorf("%s: the mail lacks %q:\n%s", mode, part, got.data)
			}
		}
	}
}

func TestAMailOfAMonthHasItsReportAndItsPage(t *testing.T) {
	server := newMailServer(t, alerting.TLSNone)
	s, key := newTestSender(t, Config{Allow: []string{"localhost"}})
	email := &alerting.Email{Host: "localhost", Port: server.port, TLS: alerting.TLSNone, From: "carillon@example.org", To: []string{"ops@example.org"}}
	c := entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindEmail, Email: email, Month: &alerting.Monthly{Group: "billing"}, Language: alerting.Chinese})
	inc, err := alerting.NewReport(&c.Doc, "2026-10", time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	inc.Report.Text = "指标\n- 已运行: 9 (7)\n"
	if _, err := s.send(t.Context(), c, s.message(inc, &inc.Deliveries[0], c.Doc.Reader())); err != nil {
		t.Fatal(err)
	}
	want := "[Carillon] 2026-10 月报，分组 billing\n2026-10 月报，分组 billing\r\n\r\n指标\r\n- 已运行: 9 (7)\r\n\r\nhttps://carillon.test/reports/month?group=billing&month=2026-10\r\n"
	if got := decodedMail(t, (<-server.mails).raw); got != want {
		t.Errorf("the mail is %q, want %q", got, want)
	}
}

func TestMailIsNotSentInTheClearWhenTLSIsAskedFor(t *testing.T) {
	server := newMailServer(t, alerting.TLSNone)
	s, key := newTestSender(t, Config{Allow: []string{"localhost"}, Roots: server.roots})
	email := &alerting.Email{Host: "localhost", Port: server.port, User: "carillon", From: "a@example.org", To: []string{"b@example.org"}}
	_, err := s.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindEmail, Email: email}, alerting.SecretPassword, "pa55"), failing(s, alerting.Opened))
	if err == nil || !strings.Contains(strings.ToUpper(err.Error()), "STARTTLS") {
		t.Errorf("error %v, want that the server has no STARTTLS", err)
	}
	stranger, _ := newTestSender(t, Config{Allow: []string{"localhost"}, Roots: x509.NewCertPool()})
	secure := newMailServer(t, alerting.TLSStart)
	email.Port, email.User = secure.port, ""
	if _, err := stranger.send(t.Context(), entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindEmail, Email: email}), failing(s, alerting.Opened)); err == nil {
		t.Error("a certificate of nobody we know is taken")
	}
}

// mailServer is a mail server that takes everything, and hands out what it took.
type mailServer struct {
	port  int
	roots *x509.CertPool
	mails chan gotMail
	tls   *tls.Config
	mode  string
}

type gotMail struct {
	secure bool
	auth   string
	to     []string
	raw    string
	data   string // raw without the breaks that encoding adds to long lines
}

func newMailServer(t *testing.T, mode string) *mailServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{mode: mode, roots: x509.NewCertPool(), mails: make(chan gotMail, 1)}
	s.roots.AddCert(cert)
	s.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return s
}

// serve speaks as much SMTP as a client needs.
func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	m := gotMail{}
	if s.mode == alerting.TLSImplicit {
		conn, m.secure = tls.Server(conn, s.tls), true
	}
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 localhost ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO", "HELO":
			if s.mode == alerting.TLSStart && !m.secure {
				say("250-localhost\r\n250 STARTTLS")
			} else {
				say("250-localhost\r\n250 AUTH PLAIN")
			}
		case "STARTTLS":
			say("220 go on")
			secure := tls.Server(conn, s.tls)
			if secure.HandshakeContext(context.Background()) != nil {
				return
			}
			conn, m.secure, in = secure, true, bufio.NewReader(secure)
		case "AUTH":
			plain, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			m.auth = string(plain)
			say("235 welcome")
		case "RCPT":
			m.to = append(m.to, strings.TrimPrefix(rest, "TO:"))
			say("250 ok")
		case "DATA":
			say("354 go on")
			for {
				line, err := in.ReadString('\n')
				if err != nil || line == ".\r\n" {
					break
				}
				m.raw += line
			}
			m.data = strings.ReplaceAll(m.raw, "=\r\n", "")
			say("250 taken")
			s.mails <- m
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}
