package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestALogSaysThatThereIsNoConnection(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b strings.Builder
		log, err := NewLogger(&b, "info", format)
		if err != nil {
			t.Fatal(err)
		}
		log.Warn("no heartbeat", "error", fmt.Errorf("publish: %w", nats.ErrReconnectBufExceeded))
		log.Warn("other", "error", nats.ErrTimeout)
		if got := b.String(); !strings.Contains(got, "publish: not connected to NATS") || strings.Contains(got, "outbound") || !strings.Contains(got, "nats: timeout") {
			t.Error(got)
		}
	}
}
