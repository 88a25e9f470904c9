//go:build unix

package main

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"time"
)

// dialer makes connections on which the process dies just before it acknowledges a
// trigger whose end is stored.
type dialer struct{ mortal }

const dialFor = 2 * time.Second

// Dial is nats.CustomDialer's.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, dialFor) //nolint:noctx // the interface has none
	return wire{conn, d.mortal}, err
}

type wire struct {
	net.Conn
	mortal
}

// Write sends p: whole messages, as the client library writes them. What comes before a
// fatal one is sent.
func (w wire) Write(p []byte) (int, error) {
	for at := 0; at < len(p); {
		line, size, ok := next(p[at:])
		if !ok {
			break
		}
		if trigger, acked := acknowledged(line, p[at:at+size]); acked && w.fatal(shareAcked, "acked "+trigger.seq, trigger.delivery) {
			_, _ = w.Conn.Write(p[:at]) // what comes of it makes no difference any more
			w.die("before the acknowledgement")
		}
		at += size
	}
	return w.Conn.Write(p)
}

// next returns the first line of what p begins with, and its size with its payload.
func next(p []byte) (line []string, size int, ok bool) {
	end := bytes.Index(p, []byte("\r\n"))
	if end < 0 {
		return nil, 0, false
	}
	line, size = strings.Fields(string(p[:end])), end+2
	if len(line) > 2 && (line[0] == "PUB" || line[0] == "HPUB") {
		payload, err := strconv.Atoi(line[len(line)-1])
		if err != nil {
			return nil, 0, false
		}
		size += payload + 2
	}
	return line, size, size <= len(p)
}

// delivered is what the subject on which a trigger is acknowledged says of it.
type delivered struct {
	seq      string // on the stream
	delivery int
}

// acknowledged returns which trigger a message takes off the bus:
// PUB $JS.ACK.<stream>.<consumer>.<delivery>.<sequence>. ... with +ACK.
func acknowledged(line []string, message []byte) (d delivered, ok bool) {
	if len(line) < 3 || line[0] != "PUB" || !strings.HasPrefix(line[1], "$JS.ACK.") || !bytes.Contains(message, []byte("\r\n+ACK")) {
		return d, false
	}
	tokens := strings.Split(line[1], ".")
	if len(tokens) == 11 || len(tokens) == 12 { // with the domain and account before the stream
		tokens = append(tokens[:2:2], tokens[4:]...)
	}
	if len(tokens) < 6 {
		return d, false
	}
	var err error
	d.seq = tokens[5]
	d.delivery, err = strconv.Atoi(tokens[4])
	return d, err == nil
}
