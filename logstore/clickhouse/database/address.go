package database

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/job"
)

// dialTimeout is what people wait for when the server is away.
const dialTimeout = 5 * time.Second

// Parse reads an address as Open takes it. Its errors never show the password.
func Parse(address string) (*clickhouse.Options, Layout, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "clickhouse" || u.Host == "" {
		return nil, Layout{}, &job.InvalidError{Field: "store", Reason: "must be like clickhouse://USER:PASSWORD@HOST:9000/DATABASE"} //nolint:gosec // a pattern
	}
	query := u.Query()
	l := Layout{Database: strings.TrimPrefix(u.Path, "/"), Cluster: query.Get("cluster"), TextIndex: true}
	if l.Sharded, err = takeBool(query, "sharded", false); err != nil {
		return nil, l, err
	}
	if l.TextIndex, err = takeBool(query, "text_index", true); err != nil {
		return nil, l, err
	}
	if err := l.validate(); err != nil {
		return nil, l, err
	}
	query.Del("cluster")
	u.RawQuery = query.Encode()
	options, err := clickhouse.ParseDSN(u.String())
	if err != nil {
		return nil, l, &job.InvalidError{Field: "store", Reason: "has an option that the ClickHouse driver does not take" + wrongOption(u)}
	}
	for i, host := range options.Addr {
		_, port, err := net.SplitHostPort(host)
		if err != nil {
			port = "9000"
			if options.TLS != nil {
				port = "9440"
			}
			options.Addr[i] = net.JoinHostPort(host, port)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, l, &job.InvalidError{Field: "store", Reason: fmt.Sprintf("has the port %q, which must be from 1 to 65535", port)}
		}
	}
	if options.Compression == nil {
		options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	}
	if !query.Has("dial_timeout") {
		options.DialTimeout = dialTimeout
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	// With it, 26.7 reads the text of all lines where the index would do.
	options.Settings["use_top_k_dynamic_filtering"] = 0
	// Tables have none, and to look for them in each part took more than all else.
	options.Settings["use_statistics"] = 0
	if l.Sharded { // all that concerns a run is on one shard
		options.Settings["distributed_product_mode"] = "local"
	}
	return options, l, nil
}

// wrongOption names the options that the driver does not take, of an address that has some.
// Their values are not shown: a password may be among them.
func wrongOption(u *url.URL) string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		one := *u
		one.RawQuery = url.Values{name: u.Query()[name]}.Encode()
		if _, err := clickhouse.ParseDSN(one.String()); err != nil {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return ": " + strings.Join(wrong, ", ")
}

// takeBool removes an option of ours, which the driver would hand to the server.
func takeBool(query url.Values, name string, def bool) (bool, error) {
	text := query.Get(name)
	query.Del(name)
	if text == "" {
		return def, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return def, &job.InvalidError{Field: "store", Reason: "has " + name + "=" + text + ", which must be true or false"}
	}
	return value, nil
}
