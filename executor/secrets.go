package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// mask is what stands for a secret in what a run says.
const mask = "***"

// leastMasked is how long a secret must be to be masked, in bytes: a shorter one is
// found in every other word.
const leastMasked = 4

// unseal fetches and opens the secrets that the run's task asks for. Its error is for
// the run's message.
func (e *Executor) unseal(ctx context.Context, r *Run) error {
	wanted := r.trigger.Task.Secrets
	if len(wanted) == 0 {
		return nil
	}
	secret := e.cfg.Secrets
	if secret == nil {
		secret = e.keptSecret
	}
	secrets := make(map[string]string, len(wanted))
	for _, variable := range slices.Sorted(maps.Keys(wanted)) {
		value, err := secret(ctx, wanted[variable])
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		}
		secrets[variable] = value
	}
	r.secrets = secrets
	r.log.mask(newMasker(secrets))
	return nil
}

// keptSecret returns a secret of the group that Carillon keeps.
func (e *Executor) keptSecret(ctx context.Context, name string) (string, error) {
	if e.key == nil {
		return "", errors.New(reason.NoSecretKey.String())
	}
	s, err := fetch(ctx, func() (*bus.Secret, error) { return e.conn.Secret(ctx, e.cfg.Group, name) })
	switch {
	case errors.Is(err, job.ErrNotFound):
		return "", errors.New(reason.NoSecret.With(name, e.cfg.Group, "carillon secret set "+name+" --group "+e.cfg.Group))
	case err != nil:
		return "", fmt.Errorf("fetch secret %q: %w", name, err)
	}
	value, err := e.key.Open(name, s.Sealed)
	if err != nil {
		return "", fmt.Errorf("open secret %q: it is sealed with key %s, and this executor has %s", name, s.KeyID, e.key.ID())
	}
	return value, nil
}

// parseSecretKey reads [Config.SecretKey].
func parseSecretKey(cfg Config) (*seal.Key, error) {
	if cfg.SecretKey == "" {
		return nil, nil
	}
	key, err := seal.ParseKey(cfg.SecretKey)
	if err != nil {
		return nil, &job.InvalidError{Field: "secret_key", Reason: "is " + err.Error()}
	}
	if cfg.Secrets != nil {
		return nil, &job.InvalidError{Field: "secret_key", Reason: "does not go with secrets from a store of your own"}
	}
	if key.Group() != cfg.Group {
		return nil, &job.InvalidError{Field: "secret_key", Reason: fmt.Sprintf("is that of group %q, not of %q", key.Group(), cfg.Group)}
	}
	return key, nil
}

// Secret returns the value of one of the task's secrets, by the variable's name that
// the job has given it; "" when there is none.
func (r *Run) Secret(variable string) string { return r.secrets[variable] }

// newMasker returns what replaces the secrets in a text; nil when there is nothing to
// replace. Of a secret with several lines each is replaced, for logs consist of lines;
// and each as it looks in a URL and in JSON, as usual libraries write it.
func newMasker(secrets map[string]string) *strings.Replacer {
	forms := map[string]bool{}
	for _, secret := range secrets {
		for part := range strings.SplitSeq(secret, "\n") {
			part = strings.TrimSpace(part)
			if len(part) < leastMasked {
				continue
			}
			for _, form := range append(jsonForms(part), part, url.QueryEscape(part), url.PathEscape(part)) {
				forms[form] = true
			}
		}
	}
	if len(forms) == 0 {
		return nil
	}
	// A secret may begin with another, which sorts before it and must be looked for after it.
	var pairs []string
	for _, form := range slices.Backward(slices.Sorted(maps.Keys(forms))) {
		pairs = append(pairs, form, mask)
	}
	return strings.NewReplacer(pairs...)
}

// jsonForms returns text as Go, JavaScript, Python, PHP and .NET write it within a string of JSON.
func jsonForms(text string) []string {
	quoted, _ := json.Marshal(text) // text has always a form
	var plain strings.Builder
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	script := strings.TrimSpace(plain.String())
	var python, dotNET strings.Builder
	for _, unit := range utf16.Encode([]rune(script)) {
		switch {
		case unit >= utf8.RuneSelf:
			fmt.Fprintf(&python, `\u%04x`, unit)
			fmt.Fprintf(&dotNET, `\u%04X`, unit)
			continue
		case strings.ContainsRune("&'+<>`", rune(unit)):
			fmt.Fprintf(&dotNET, `\u%04X`, unit)
		default:
			dotNET.WriteByte(byte(unit))
		}
		python.WriteByte(byte(unit))
	}
	net := dotNET.String()
	net = `"` + strings.ReplaceAll(net[1:len(net)-1], `\"`, `\u0022`) + `"`
	forms := []string{string(quoted), script, python.String(), strings.ReplaceAll(python.String(), "/", `\/`), net}
	for i, form := range forms {
		forms[i] = form[1 : len(form)-1]
	}
	return forms
}

// masked returns o without the run's secrets.
func (r *Run) masked(o outcome) outcome {
	m := r.log.masker()
	if m == nil {
		return o
	}
	o.message, o.stack = m.Replace(o.message), m.Replace(o.stack)
	o.result = json.RawMessage(m.Replace(string(maskedJSON(m, o.result))))
	if len(o.result) > 0 && !json.Valid(o.result) { // a secret that was a number, or JSON itself
		o.result, o.message = nil, strings.TrimSpace(o.message+" the result was left out: it has a secret in it")
	}
	return o
}

// maskedJSON returns JSON with its texts masked as they read, whichever way they are escaped.
func maskedJSON(m *strings.Replacer, value json.RawMessage) json.RawMessage {
	var masked []byte
	for len(value) > 0 {
		begin := bytes.IndexByte(value, '"')
		if begin < 0 {
			begin = len(value)
		}
		masked = append(masked, m.Replace(string(value[:begin]))...)
		value = value[begin:]
		end := textEnd(value)
		quoted := value[:end]
		value = value[end:]
		var text string
		if json.Unmarshal(quoted, &text) == nil {
			if without := m.Replace(text); without != text {
				quoted, _ = json.Marshal(without) // text has always a form
			}
		}
		masked = append(masked, quoted...)
	}
	return masked
}

// textEnd returns the length of the text with which JSON begins.
func textEnd(value []byte) int {
	for i := 1; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(value)
}
