package jet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestWhoeverWaitsForNATSIsToldWhatToDo(t *testing.T) {
	refused := fmt.Errorf("connect: %w", nats.ErrAuthorization)
	for _, c := range []struct {
		cfg  Config
		err  error
		want string
	}{
		{Config{}, errors.New("no servers available"), "is its address right?"},
		{Config{}, errors.New("remote error: tls: certificate required"), "set CARILLON_NATS_CERT and CARILLON_NATS_KEY"},
		{Config{CertFile: "own.pem"}, errors.New("tls error: connection closed by remote after TLS handshake: EOF"), "refuses the client certificate own.pem"},
		{Config{}, refused, "set CARILLON_CREDENTIAL_FILE"},
		{Config{Key: "SU…"}, refused, "is it revoked"},
	} {
		if got := advice(c.cfg, c.err); !strings.Contains(got, c.want) {
			t.Errorf("advice is %q; want %q in it", got, c.want)
		}
	}
}
