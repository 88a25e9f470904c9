package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// nameServer answers each question for an address of IPv4 with the next of its answers.
type nameServer struct {
	conn    net.PacketConn
	answers chan []netip.Addr
	done    chan struct{}
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn, make(chan []netip.Addr, 10), make(chan struct{})}
	go s.serve()
	t.Cleanup(func() { _ = conn.Close(); <-s.done })
	return s
}

func (s *nameServer) serve() {
	defer close(s.done)
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		question := buf[12:n]
		end := 0
		for question[end] != 0 { // over the labels of the name
			end += int(question[end]) + 1
		}
		kind := binary.BigEndian.Uint16(question[end+1:])
		question = question[:end+5]
		var found []netip.Addr
		if kind == 1 {
			found = <-s.answers
		}
		answer := append([]byte{}, buf[:2]...)
		answer = append(answer, 0x81, 0x80, 0, 1, 0, byte(len(found)), 0, 0, 0, 0)
		answer = append(answer, question...)
		for _, addr := range found { // the name by reference, A, IN, no time to live
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			answer = append(answer, addr.AsSlice()...)
		}
		_, _ = s.conn.WriteTo(answer, from)
	}
}

// A name that is under somebody else's control answers with an address that may be called
// when it is looked at, and with another when it is called. There is but one look: the
// address that is dialled.
func TestANameThatChangesItsMindGetsNowhere(t *testing.T) {
	names := newNameServer(t)
	resolver := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", names.conn.LocalAddr().String())
	}}
	t.Cleanup(func() { net.DefaultResolver = resolver })

	reached := make(chan string, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()
	}))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "0.0.0.0:0") // on 127.0.0.1 and 127.0.0.2 alike
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuard([]string{"127.0.0.2"}, hint)
	if err != nil {
		t.Fatal(err)
	}
	get := func(answers ...netip.Addr) error {
		t.Helper()
		names.answers <- answers
		client := &http.Client{Transport: g.Transport()} // no connection is kept between requests
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://rebind.test.:"+port, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		client.CloseIdleConnections()
		return err
	}
	allowed, private := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")
	if err := get(allowed); err != nil {
		t.Fatal(err)
	}
	var forbidden *ForbiddenError
	if err := get(private); !errors.As(err, &forbidden) || forbidden.Addr != private {
		t.Errorf("%v, want it forbidden", err)
	}
	if err := get(private, allowed); err != nil { // the one that may be called is
		t.Error(err)
	}
	close(reached)
	n := 0
	for at := range reached {
		if n++; at != "127.0.0.2:"+port {
			t.Errorf("%s was reached", at)
		}
	}
	if n != 2 {
		t.Errorf("%d requests arrived, want 2", n)
	}
}
