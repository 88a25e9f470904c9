package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func hint(addr netip.Addr) string { return "allow " + addr.String() + " if it should" }

func TestOnlyPublicAddressesMayBeCalled(t *testing.T) {
	f := func(addr string, want bool) {
		t.Helper()
		if got := isPublic(netip.MustParseAddr(addr).Unmap()); got != want {
			t.Errorf("%s public: %v, want %v", addr, got, want)
		}
	}
	for _, public := range []string{"1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "2606:4700::1111", "::ffff:8.8.8.8"} {
		f(public, true)
	}
	for _, private := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1",
	} {
		f(private, false)
	}
}

func TestExceptionsAreHostsAddressesAndNetworks(t *testing.T) {
	dials := func(allow, address string, want bool) {
		t.Helper()
		g, err := NewGuard([]string{allow}, hint)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.check(address) == nil; got != want {
			t.Errorf("with %s, %s may be dialled: %v, want %v", allow, address, got, want)
		}
	}
	dials("10.1.0.0/16", "10.1.2.3:80", true)
	dials("10.1.0.0/16", "10.2.2.3:80", false)
	dials("10.1.2.3", "10.1.2.3:443", true)
	dials("10.1.2.3:80", "10.1.2.3:80", true)
	dials("10.1.2.3:80", "10.1.2.3:81", false)
	dials("127.0.0.1", "[::ffff:127.0.0.1]:80", true)
	dials("::1", "[::1]:80", true)
	dials("[::1]:80", "[::1]:81", false)
	dials("localhost", "127.0.0.1:80", false) // the name, not what it stands for

	names := func(allow, address string, want bool) {
		t.Helper()
		g, err := NewGuard([]string{allow}, hint)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.allowsName(address); got != want {
			t.Errorf("with %s, %s is allowed by name: %v, want %v", allow, address, got, want)
		}
	}
	names("LocalHost", "localhost:80", true)
	names("localhost:80", "localhost.:80", true)
	names("localhost:80", "localhost:81", false)
	names("localhost", "localhost.example.com:80", false)
	names("10.0.0.0/8", ":80", false)

	for _, wrong := range []string{"", "http://x", "*.example.com", "10.0.0.0/33", "x:0", "x:99999", "a b"} {
		if _, err := NewGuard([]string{wrong}, hint); err == nil {
			t.Errorf("%q: %v, want it refused", wrong, err)
		}
	}
}

// A name is asked for, and resolves to a private address: what a resolver under
// somebody else's control may answer at any time, whatever it said before.
func TestTheAddressThatIsDialledIsChecked(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	get := func(allow []string, url string) error {
		t.Helper()
		g, err := NewGuard(allow, hint)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: g.Transport()}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			client.CloseIdleConnections()
			err = resp.Body.Close()
		}
		return err
	}
	for _, url := range []string{server.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port, "http://2130706433:" + port} {
		var forbidden *ForbiddenError
		if err := get(nil, url); err == nil || !errors.As(err, &forbidden) && url != "http://2130706433:"+port {
			t.Errorf("%s: %v, want it forbidden", url, err)
		}
	}
	if err := get([]string{"localhost"}, "http://localhost:"+port); err != nil {
		t.Error(err)
	}
	if err := get([]string{"127.0.0.0/8"}, server.URL); err != nil {
		t.Error(err)
	}
}

func TestAnAddressIsCheckedBeforeItIsDialled(t *testing.T) {
	g, err := NewGuard([]string{"10.0.0.0/8"}, hint)
	if err != nil {
		t.Fatal(err)
	}
	f := func(address string, want bool) {
		t.Helper()
		if got := g.Check(address) == nil; got != want {
			t.Errorf("%s may be dialled: %v, want %v", address, got, want)
		}
	}
	f("10.0.0.5:9999", true)
	f("169.254.169.254:80", false)
	f("127.0.0.1:9999", false)
	f("localhost:9999", true) // a name is checked when it is dialled
}
