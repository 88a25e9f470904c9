package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// sendChat writes a message to a chat by the address that the chat gave out for that.
func (s *sender) sendChat(ctx context.Context, c *alerting.Channel, secrets map[string]string, m *Message) (reply, error) {
	address, body := secrets[alerting.SecretURL], map[string]any(nil)
	now := time.Now()
	switch c.Kind {
	case alerting.KindSlack:
		body = slackBody(m)
	case alerting.KindTeams:
		body = teamsBody(m)
	case alerting.KindWeCom:
		body = map[string]any{"msgtype": "markdown", "markdown": map[string]any{"content": markdown(m, "\n")}}
	case alerting.KindDingTalk:
		body = map[string]any{"msgtype": "markdown", "markdown": map[string]any{"title": m.Title, "text": markdown(m, "\n\n")}}
		if secret := secrets[alerting.SecretSign]; secret != "" {
			var err error
			if address, err = signedDingTalk(address, secret, now); err != nil {
				return reply{}, err
			}
		}
	case alerting.KindFeishu:
		body = feishuBody(m)
		if secret := secrets[alerting.SecretSign]; secret != "" {
			body["timestamp"], body["sign"] = signedFeishu(secret, now)
		}
	case alerting.KindWebhook, alerting.KindEmail, alerting.KindPagerDuty:
	}
	data, err := json.Marshal(body)
	if err != nil {
		return reply{}, fmt.Errorf("encode message: %w", err)
	}
	answer, err := s.call(ctx, address, nil, data)
	if err != nil {
		return answer, err
	}
	return answer, refusal(answer.body)
}

// refusal returns an error when a chat that answers with status 200 says in the body that
// it took nothing. Slack and Teams say it by the status.
func refusal(answer []byte) error {
	var r struct {
		ErrCode int    `json:"errcode"` // DingTalk, WeCom
		ErrMsg  string `json:"errmsg"`
		Code    int    `json:"code"` // Feishu
		Msg     string `json:"msg"`
	}
	said := json.Unmarshal(answer, &r) == nil
	switch {
	case !said:
		return nil
	case r.ErrCode != 0:
		return refusedWith(r.ErrCode, r.ErrMsg)
	case r.Code != 0:
		return refusedWith(r.Code, r.Msg)
	}
	return nil
}

func refusedWith(code int, text string) error {
	return &alerting.Failure{Sentence: alerting.Say("chat_refused", "code", strconv.Itoa(code), "text", fmt.Sprintf("%.200s", oneLine(text)))}
}

// slackEscape writes text so that Slack takes no part of it for a link or a mention.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func slackBody(m *Message) map[string]any {
	var text strings.Builder
	text.WriteString("*" + slackEscape.Replace(m.Title) + "*")
	for _, f := range m.facts {
		text.WriteString("\n" + f.name + m.words.colon + slackEscape.Replace(f.value))
	}
	if m.Link != "" {
		text.WriteString("\n<" + m.Link + "|" + m.words.open + ">")
	}
	return map[string]any{
		"text":   slackEscape.Replace(m.Title), // what notifications show
		"blocks": []any{map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": clip.Runes(text.String(), 2900)}}},
	}
}

// teamsBody is an adaptive card, as the workflows of Teams take it.
func teamsBody(m *Message) map[string]any {
	facts := []any{}
	for _, f := range m.facts {
		facts = append(facts, map[string]any{"title": f.name, "value": plain(f.value)})
	}
	card := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": []any{
			map[string]any{"type": "TextBlock", "text": plain(m.Title), "weight": "bolder", "size": "medium", "wrap": true},
			map[string]any{"type": "FactSet", "facts": facts},
		},
	}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": m.words.open, "url": m.Link}}
	}
	return map[string]any{"type": "message", "attachments": []any{
		map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card},
	}}
}

func feishuBody(m *Message) map[string]any {
	lines := []any{}
	for _, f := range m.facts {
		lines = append(lines, []any{map[string]any{"tag": "text", "text": f.name + m.words.colon + f.value}})
	}
	if m.Link != "" {
		lines = append(lines, []any{map[string]any{"tag": "a", "text": "Carillon", "href": m.Link}})
	}
	return map[string]any{"msg_type": "post", "content": map[string]any{
		"post": map[string]any{"zh_cn": map[string]any{"title": m.Title, "content": lines}},
	}}
}

// markdown tells a message in the markdown of DingTalk and WeCom.
func markdown(m *Message, newline string) string {
	lines := []string{"**" + plain(m.Title) + "**"}
	for _, f := range m.facts {
		lines = append(lines, "> "+f.name+m.words.colon+plain(f.value))
	}
	if m.Link != "" {
		lines = append(lines, "[Carillon]("+m.Link+")")
	}
	return clip.Runes(strings.Join(lines, newline), 3500)
}

// plain keeps foreign text from being markup: a run's message must not become a link.
func plain(s string) string {
	return strings.NewReplacer("[", "［", "]", "］", "<", "＜", ">", "＞", "`", "'", "*", "∗").Replace(s)
}

// signedDingTalk adds to an address what DingTalk asks of a robot with a secret.
func signedDingTalk(address, secret string, now time.Time) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address is not one")
	}
	at := strconv.FormatInt(now.UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(at + "\n" + secret))
	q := u.Query()
	q.Set("timestamp", at)
	q.Set("sign", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// signedFeishu returns what Feishu asks of a robot with a secret: the key is what other
// signatures sign, and nothing is signed with it.
func signedFeishu(secret string, now time.Time) (at, signature string) {
	at = strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(at+"\n"+secret))
	return at, base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
