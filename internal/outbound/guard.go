package outbound

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const dialTimeout = 10 * time.Second

// Guard decides which addresses may be dialled. It is safe for concurrent use.
type Guard struct {
	allow []exception
	hint  func(netip.Addr) string
}

// exception is a name, or a range of addresses, that may be called.
type exception struct {
	host   string // "" for a range
	prefix netip.Prefix
	port   uint16 // 0 is any
}

// NewGuard returns a guard that lets through public addresses and those in allow: hosts,
// addresses and networks, the first two with or without a port. hint returns, for the error
// about an address that is refused, what to do if it should not be. The error says which
// entry is wrong, and what would be right.
func NewGuard(allow []string, hint func(netip.Addr) string) (*Guard, error) {
	g := &Guard{hint: hint}
	for _, text := range allow {
		e, ok := parseException(strings.ToLower(strings.TrimSpace(text)))
		if !ok {
			return nil, fmt.Errorf("%q must be a host, an address or a network, such as localhost:8080, 10.1.2.3 or 10.0.0.0/8", text)
		}
		g.allow = append(g.allow, e)
	}
	return g, nil
}

// Transport returns a transport for package http that dials through the guard.
func (g *Guard) Transport() *http.Transport {
	return &http.Transport{
		DialContext:         g.Dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     30 * time.Second,
		TLSHandshakeTimeout: dialTimeout,
	}
}

func parseException(text string) (exception, bool) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return exception{prefix: prefix.Masked()}, true
	}
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return exception{prefix: netip.PrefixFrom(addr, addr.BitLen())}, true
	}
	var e exception
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host = text
	} else {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return e, false
		}
		e.port = uint16(n)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		e.prefix = netip.PrefixFrom(addr, addr.BitLen())
		return e, true
	}
	e.host = strings.TrimSuffix(host, ".")
	return e, e.host != "" && !strings.ContainsAny(e.host, "/:*[] ")
}

// Dial connects to an address that has been asked for by name or by number. The error
// is a [*ForbiddenError] when it may not be.
func (g *Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTimeout}
	if !g.allowsName(address) {
		d.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error { return g.check(resolved) }
	}
	return d.DialContext(ctx, network, address)
}

// Check returns a [*ForbiddenError] if the host of an address, HOST:PORT, is written as a number that may
// not be dialled. What a name stands for is known only when it is dialled.
func (g *Guard) Check(address string) error {
	if _, err := netip.ParseAddrPort(address); err == nil && !g.allowsName(address) {
		return g.check(address)
	}
	return nil
}

// allowsName reports whether an exception names the host, whatever its address.
func (g *Guard) allowsName(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, e := range g.allow {
		if e.host == host && e.host != "" && (e.port == 0 || strconv.Itoa(int(e.port)) == port) {
			return true
		}
	}
	return false
}

// check returns an error unless the address, which is about to be dialled, is public
// or an exception.
func (g *Guard) check(resolved string) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("read address %q: %w", resolved, err)
	}
	addr := at.Addr().Unmap().WithZone("")
	if isPublic(addr) {
		return nil
	}
	for _, e := range g.allow {
		if e.host == "" && e.prefix.Contains(addr) && (e.port == 0 || e.port == at.Port()) {
			return nil
		}
	}
	return &ForbiddenError{addr, g.hint(addr)}
}

// ForbiddenError says that an address may not be called.
type ForbiddenError struct {
	Addr netip.Addr
	hint string
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("%s is a private address, which is not called; %s", e.Addr, e.hint)
}

var (
	// reserved lists the ranges of IPv4 that are not public and that package netip has
	// no method for: this network, carriers' networks, protocol assignments, benchmarks,
	// the future and broadcasts.
	reserved = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4")
	// Of IPv6 only this is given out at all, and in it those contain other addresses
	// (Teredo, 6to4), or are for examples.
	given   = netip.MustParsePrefix("2000::/3")
	through = prefixes("2001::/32", "2002::/16", "2001:db8::/32")
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

// isPublic reports whether an address is one that anybody could reach.
func isPublic(addr netip.Addr) bool {
	if addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() {
		return false
	}
	ranges := reserved
	if addr.Is6() {
		if !given.Contains(addr) {
			return false
		}
		ranges = through
	}
	for _, p := range ranges {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}
