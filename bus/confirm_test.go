package bus

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestAConfirmationHoldsForItsTextAndSaysNothingElse(t *testing.T) {
	tokens, now := NewTokens(), time.Now()
	text := []byte("pause billing/x")
	token := tokens.Confirmation(text, now)
	if !tokens.Confirms(token, text) {
		t.Error("a confirmation does not hold")
	}
	for _, wrong := range []string{"", "x", token[:len(token)-1], token + "x", strings.ToUpper(token), NewTokens().Confirmation(text, now)} {
		if tokens.Confirms(wrong, text) {
			t.Errorf("%q holds", wrong)
		}
	}
	if tokens.Confirms(token, []byte("pause billing/y")) || new(Tokens).Confirms(token, text) {
		t.Error("a confirmation holds for another text, or another cluster")
	}
	m := &nats.Msg{Data: text, Header: nats.Header{}}
	tokens.Vouch(m, now)
	if tokens.Confirms(m.Header.Get(HeaderToken), text) {
		t.Error("the word of a server is a confirmation")
	}
	if _, err := tokens.speaker(token, "", text, &attempt{}); err == nil {
		t.Error("a confirmation is the word of a server")
	}
}
