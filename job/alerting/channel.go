package alerting

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Channel is a way to people.
type Channel struct {
	Channel     string `json:"channel"` // its name, a slug
	Description string `json:"description,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
	Kind        Kind   `json:"kind"`
	// URL is where a webhook goes. Of pagerduty it is set for another region than the
	// first. The addresses of chats are secrets, since who has them can write there.
	URL string `json:"url,omitempty"`
	// Headers are sent along with a webhook. Body is a template for what it says, in the
	// language of Go's text/template, about the message; empty is the message as JSON.
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Email   *Email            `json:"email,omitempty"`
	Quiet   *Quiet            `json:"quiet_hours,omitempty"`
	// Month mails a report of each month. Only e-mail has it.
	Month *Monthly `json:"month_report,omitempty"`
	// Language and Zone are of the messages: their words, and the time zone of their instants.
	Language Language `json:"language,omitempty"`
	Zone     string   `json:"zone,omitempty"`
}

// ChannelDocument is a channel as somebody wrote it.
type ChannelDocument struct {
	Channel
	// Disabled is nil if the document does not mention it: an existing channel stays as it is.
	Disabled *bool `json:"disabled,omitempty"`
}

// Over returns the channel that d becomes in place of was, which is nil for a new one.
func (d ChannelDocument) Over(was *Channel) Channel {
	c := d.Channel
	c.Disabled = was != nil && was.Disabled
	if d.Disabled != nil {
		c.Disabled = *d.Disabled
	}
	return c
}

// Kind says what a channel is.
type Kind string

// The kinds of channel.
const (
	KindWebhook   Kind = "webhook"
	KindEmail     Kind = "email"
	KindSlack     Kind = "slack"
	KindTeams     Kind = "teams"
	KindDingTalk  Kind = "dingtalk"
	KindWeCom     Kind = "wecom"
	KindFeishu    Kind = "feishu"
	KindPagerDuty Kind = "pagerduty"
)

// The names of secrets.
const (
	SecretURL      = "url"         // of chats
	SecretSign     = "secret"      // with which a webhook is signed; of dingtalk and feishu, their own
	SecretPassword = "password"    // of the mail server
	SecretRouting  = "routing_key" // of pagerduty
)

// secretsOf says which secrets a kind has, those that it needs first.
var secretsOf = map[Kind]struct {
	needs, takes []string
}{
	KindWebhook:   {nil, []string{SecretSign}},
	KindEmail:     {nil, []string{SecretPassword}},
	KindSlack:     {[]string{SecretURL}, nil},
	KindTeams:     {[]string{SecretURL}, nil},
	KindDingTalk:  {[]string{SecretURL}, []string{SecretSign}},
	KindWeCom:     {[]string{SecretURL}, nil},
	KindFeishu:    {[]string{SecretURL}, []string{SecretSign}},
	KindPagerDuty: {[]string{SecretRouting}, nil},
}

// Kinds lists the kinds of channel.
var Kinds = []Kind{KindWebhook, KindEmail, KindSlack, KindTeams, KindDingTalk, KindWeCom, KindFeishu, KindPagerDuty}

// Email says how mail is sent.
type Email struct {
	Host string `json:"host"`
	Port int    `json:"port,omitempty"` // defaults to 587, with tls "implicit" to 465
	// TLS is starttls (the default), which has to work, implicit, or none.
	TLS  string   `json:"tls,omitempty"`
	User string   `json:"user,omitempty"` // empty: no sign-in
	From string   `json:"from"`
	To   []string `json:"to"`
}

// The ways to speak TLS with a mail server.
const (
	TLSStart    = "starttls"
	TLSImplicit = "implicit"
	TLSNone     = "none"
)

// Quiet says when a channel is quiet: what is not critical waits for the end of it, and is
// not sent at all if it has passed by then.
type Quiet struct {
	From string   `json:"from"` // 22:00
	To   string   `json:"to"`   // 07:00, the next day if that is earlier
	Zone string   `json:"zone,omitempty"`
	Days []string `json:"days,omitempty"` // mon to sun, of the beginning; empty is all
}

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // as time.Weekday counts

// Bounds of a channel.
const (
	maxAddresses = 50
	maxHeaders   = 20
	maxTemplate  = 16 << 10 // bytes
)

// WithDefaults returns c with what was left out.
func (c Channel) WithDefaults() Channel {
	if c.Email != nil {
		e := *c.Email
		if e.TLS == "" {
			e.TLS = TLSStart
		}
		if e.Port == 0 && e.TLS == TLSImplicit {
			e.Port = 465
		}
		if e.Port == 0 {
			e.Port = 587
		}
		c.Email = &e
	}
	if c.Quiet != nil && c.Quiet.Zone == "" {
		q := *c.Quiet
		q.Zone = "UTC"
		c.Quiet = &q
	}
	if c.Month != nil {
		m := *c.Month
		m.Day = cmp.Or(m.Day, 1)
		c.Month = &m
	}
	c.Language = cmp.Or(c.Language, English)
	c.Zone = cmp.Or(c.Zone, "UTC")
	return c
}

// Validate returns an error that holds an *InvalidError for each problem.
func (c *Channel) Validate() error {
	errs := []error{job.CheckSlug("channel", c.Channel)}
	if !slices.Contains(Kinds, c.Kind) {
		errs = append(errs, job.Invalid("kind", "%q must be one of %v", c.Kind, Kinds))
	}
	if len(c.Description) > MaxText {
		errs = append(errs, job.Invalid("description", "is longer than %d bytes", MaxText))
	}
	switch {
	case c.Kind == KindWebhook && c.URL == "":
		errs = append(errs, job.Invalid("url", "is missing: where does the webhook go?"))
	case c.URL != "" && c.Kind != KindWebhook && c.Kind != KindPagerDuty:
		errs = append(errs, job.Invalid("url", "of %s is a secret; set it with \"carillon alert secret %s url\"", c.Kind, c.Channel))
	case c.URL != "":
		errs = append(errs, CheckURL("url", c.URL))
	}
	if c.Kind != KindWebhook && (len(c.Headers) > 0 || c.Body != "") {
		errs = append(errs, job.Invalid("body", "and headers are for webhooks"))
	}
	errs = append(errs, c.validateWebhook()...)
	if (c.Kind == KindEmail) != (c.Email != nil) {
		errs = append(errs, job.Invalid("email", "is for kind email, which needs it"))
	} else if c.Email != nil {
		errs = append(errs, c.Email.validate())
	}
	if c.Quiet != nil {
		errs = append(errs, c.Quiet.validate())
	}
	if c.Month != nil && c.Kind != KindEmail {
		errs = append(errs, job.Invalid("month_report", "is for kind email"))
	} else if c.Month != nil {
		errs = append(errs, c.Month.validate())
	}
	if !slices.Contains(Languages, c.Language) {
		errs = append(errs, job.Invalid("language", "%q must be one of %v", c.Language, Languages))
	}
	return errors.Join(append(errs, checkZone("zone", c.Zone))...)
}

// Reader returns whom the channel's messages are for. c must be valid.
func (c *Channel) Reader() Reader {
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		zone = time.UTC // the zones of this machine are others
	}
	return Reader{c.Language, zone}
}

// checkZone returns an *InvalidError for field unless name is a time zone that is the same
// on every machine.
func checkZone(field, name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return job.Invalid(field, "%q must be a time zone such as Europe/Berlin", name)
	}
	return nil
}

func (c *Channel) validateWebhook() (errs []error) {
	if len(c.Headers) > maxHeaders {
		errs = append(errs, job.Invalid("headers", "has %d entries; at most %d are taken", len(c.Headers), maxHeaders))
	}
	for name, value := range c.Headers {
		if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			errs = append(errs, job.Invalid("headers", "has %q, which is not a header", name))
		}
	}
	if len(c.Body) > maxTemplate {
		errs = append(errs, job.Invalid("body", "is longer than %d bytes", maxTemplate))
	} else if _, err := ParseTemplate(c.Body); err != nil {
		errs = append(errs, job.Invalid("body", "is not a template: %v", err))
	}
	return errs
}

// CheckURL returns an *InvalidError for field unless text is an address for a request.
func CheckURL(field, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || len(text) > MaxText {
		return job.Invalid(field, "must be an address that begins with https:// or http://, without a user")
	}
	return nil
}

func (e *Email) validate() error {
	var errs []error
	if e.Host == "" || strings.ContainsAny(e.Host, ":/ \r\n") {
		errs = append(errs, job.Invalid("email.host", "%q must be the name of a mail server", e.Host))
	}
	if e.Port < 1 || e.Port > 65535 {
		errs = append(errs, job.Invalid("email.port", "%d must be between 1 and 65535", e.Port))
	}
	if !slices.Contains([]string{TLSStart, TLSImplicit, TLSNone}, e.TLS) {
		errs = append(errs, job.Invalid("email.tls", "%q must be starttls, implicit or none", e.TLS))
	}
	if e.TLS == TLSNone && e.User != "" {
		errs = append(errs, job.Invalid("email.tls", "must not be none when there is a user: the password would cross the network in the clear"))
	}
	if len(e.To) == 0 || len(e.To) > maxAddresses {
		errs = append(errs, job.Invalid("email.to", "must have between 1 and %d addresses", maxAddresses))
	}
	check := func(field, text string) {
		if _, err := mail.ParseAddress(text); err != nil || strings.ContainsAny(text, "\r\n") {
			errs = append(errs, job.Invalid(field, "%q must be an address such as ops@example.org", text))
		}
	}
	check("email.from", e.From)
	for i, to := range e.To {
		check(fmt.Sprintf("email.to[%d]", i), to)
	}
	return errors.Join(errs...)
}

// CheckSecret returns an *InvalidError unless the channel takes a secret of that name and
// value.
func (c *Channel) CheckSecret(name, value string) error {
	of := secretsOf[c.Kind]
	if all := append(slices.Clone(of.needs), of.takes...); !slices.Contains(all, name) {
		return job.Invalid("secret", "%q is not one that a channel of kind %s has: %v", name, c.Kind, all)
	}
	switch {
	case value == "" || len(value) > MaxText:
		return job.Invalid("value", "must have between 1 and %d bytes", MaxText)
	case strings.ContainsAny(value, "\r\n\x00"):
		return job.Invalid("value", "must be one line")
	case name == SecretURL:
		return CheckURL("value", value)
	}
	return nil
}

// Missing returns the secrets that the channel needs and that are not set.
func (c *Channel) Missing(set map[string][]byte) []string {
	var missing []string
	for _, name := range secretsOf[c.Kind].needs {
		if len(set[name]) == 0 {
			missing = append(missing, name)
		}
	}
	if c.Email != nil && c.Email.User != "" && len(set[SecretPassword]) == 0 {
		missing = append(missing, SecretPassword)
	}
	return missing
}

func (q *Quiet) validate() error {
	var errs []error
	for field, text := range map[string]string{"from": q.From, "to": q.To} {
		if _, err := time.Parse("15:04", text); err != nil {
			errs = append(errs, job.Invalid("quiet_hours."+field, "%q must be a time of day such as 22:00", text))
		}
	}
	if q.From == q.To {
		errs = append(errs, job.Invalid("quiet_hours.to", "must not be the same as from; disable the channel instead"))
	}
	errs = append(errs, checkZone("quiet_hours.zone", q.Zone))
	for _, d := range q.Days {
		if !slices.Contains(days, d) {
			errs = append(errs, job.Invalid("quiet_hours.days", "has %q; days are mon, tue, wed, thu, fri, sat and sun", d))
		}
	}
	return errors.Join(errs...)
}

// Until returns the end of the quiet hours in which now lies, or zero when it lies in
// none. q must be valid.
func (q *Quiet) Until(now time.Time) time.Time {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil {
		return time.Time{} // the zones of this machine are others: rather loud than silent
	}
	from, _ := time.Parse("15:04", q.From)
	to, _ := time.Parse("15:04", q.To)
	local := now.In(zone)
	for _, back := range []int{0, 1} { // those that begin today, or began yesterday
		y, m, d := local.AddDate(0, 0, -back).Date()
		begin := time.Date(y, m, d, from.Hour(), from.Minute(), 0, 0, zone)
		if len(q.Days) > 0 && !slices.Contains(q.Days, days[begin.Weekday()]) {
			continue
		}
		end := time.Date(y, m, d, to.Hour(), to.Minute(), 0, 0, zone)
		if !to.After(from) {
			end = time.Date(y, m, d+1, to.Hour(), to.Minute(), 0, 0, zone)
		}
		if !now.Before(begin) && now.Before(end) {
			return end.UTC()
		}
	}
	return time.Time{}
}

// isToken reports whether s can be the name of a header.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// ParseTemplate reads the template of a webhook's body.
func ParseTemplate(text string) (*template.Template, error) {
	return template.New("body").Option("missingkey=error").Funcs(template.FuncMap{"json": asJSON}).Parse(text)
}

// asJSON is the function json of templates.
func asJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}
