package clickhouse

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"carillon/job"
)

// dialTimeout is what people wait for when the server is away.
const dialTimeout = 5 * time.Second

// parse reads an address as Open takes it. Its errors never show the password.
func parse(address string) (*clickhouse.Options, layout, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "clickhouse" || u.Host == "" {
		return nil, layout{}, &job.InvalidError{Field: "store", Reason: "must be like clickhouse://USER:PASSWORD@HOST:9000/DATABASE"} //nolint:gosec // a pattern
	}
	query := u.Query()
	l := layout{Database: strings.TrimPrefix(u.Path, "/"), Cluster: query.Get("cluster"), TextIndex: true}
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
		return nil, l, &job.InvalidError{Field: "store", Reason: "has an option that the ClickHouse driver does not take"}
	}
	for i, host := range options.Addr {
		if _, _, err := net.SplitHostPort(host); err != nil {
			port := "9000"
			if options.TLS != nil {
				port = "9440"
			}
			options.Addr[i] = net.JoinHostPort(host, port)
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
	if l.Sharded { // all that concerns a run is on one shard
		options.Settings["distributed_product_mode"] = "local"
	}
	return options, l, nil
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
