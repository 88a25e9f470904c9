package bus

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The headers of a dead letter, beside those of the message that it was.
const (
	HeaderDeadReason  = "Carillon-Dead-Reason"  // why it was refused
	HeaderDeadSubject = "Carillon-Dead-Subject" // where it was published
	HeaderDeadSize    = "Carillon-Dead-Size"    // of its data, in bytes, of which the letter may have the beginning only
)

// maxDeadData leaves room for headers in the largest message of a server.
const maxDeadData = 512 << 10

// BuryMessage puts a message of a stream, which nobody can use, on [StreamDead]. Doing
// so again within half a minute changes nothing.
func (c *Conn) BuryMessage(ctx context.Context, stream string, seq uint64, m *nats.Msg, reason error) error {
	header := nats.Header{}
	maps.Copy(header, m.Header)
	for key := range header {
		if len(key) > 5 && key[:5] == "Nats-" { // would tell the server what to do
			delete(header, key)
		}
	}
	header.Set(HeaderDeadReason, reason.Error())
	header.Set(HeaderDeadSubject, m.Subject)
	header.Set(HeaderDeadSize, strconv.Itoa(len(m.Data)))
	letter := &nats.Msg{Subject: "dead." + stream, Header: header, Data: m.Data[:min(len(m.Data), maxDeadData)]}
	if _, err := c.JS.PublishMsg(ctx, letter, jetstream.WithMsgID(fmt.Sprintf("%s:%d", stream, seq))); err != nil {
		return fmt.Errorf("bury message %d of %s: %w", seq, stream, Unavailable(err))
	}
	return nil
}
