package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// prefix begins the names of the variables.
const prefix = "OTEL_EXPORTER_OTLP_"

// Endpoint returns the address to which traces go, "" if the environment names none.
func Endpoint() string {
	if own := os.Getenv(prefix + "TRACES_ENDPOINT"); own != "" {
		return own
	}
	if all := os.Getenv(prefix + "ENDPOINT"); all != "" {
		return strings.TrimSuffix(all, "/") + "/v1/traces"
	}
	return ""
}

// setting returns a variable's name and value: the one for traces, or else the one for all signals.
func setting(name string) (variable, value string) {
	for _, variable := range []string{prefix + "TRACES_" + name, prefix + name} {
		if value := os.Getenv(variable); value != "" {
			return variable, value
		}
	}
	return "", ""
}

func invalid(variable, reason string) error {
	return &job.InvalidError{Field: variable, Reason: reason}
}

func checkProtocol() error {
	if name, p := setting("PROTOCOL"); p != "" && p != "http/protobuf" {
		return invalid(name, strconv.Quote(p)+" must be http/protobuf")
	}
	return nil
}

func readEndpoint() (string, error) {
	text := Endpoint()
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		variable := prefix + "ENDPOINT"
		if os.Getenv(prefix+"TRACES_ENDPOINT") != "" {
			variable = prefix + "TRACES_ENDPOINT"
		}
		return "", invalid(variable, strconv.Quote(text)+" must be an address such as http://collector:4318")
	}
	return text, nil
}

// readHeaders returns what each request carries besides, such as a key: "name=value,name=value", with
// values as in URLs.
func readHeaders() (http.Header, error) {
	headers := http.Header{}
	variable, text := setting("HEADERS")
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, invalid(variable, "must be headers such as api-key=secret,team=a") // without the value: it may be a secret
		}
		headers.Set(strings.TrimSpace(name), plain)
	}
	return headers, nil
}

// defaultTimeout is OpenTelemetry's, for one request.
const defaultTimeout = 10 * time.Second

func readTimeout() (time.Duration, error) {
	variable, text := setting("TIMEOUT")
	if text == "" {
		return defaultTimeout, nil
	}
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil || ms <= 0 {
		return 0, invalid(variable, strconv.Quote(text)+" must be a positive number of milliseconds")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// readCompression reports whether requests are packed with gzip.
func readCompression() (bool, error) {
	variable, text := setting("COMPRESSION")
	switch text {
	case "", "none":
		return false, nil
	case "gzip":
		return true, nil
	}
	return false, invalid(variable, strconv.Quote(text)+" must be gzip or none")
}

// readTLS returns what the connection trusts and shows: files in PEM.
func readTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if variable, name := setting("CERTIFICATE"); name != "" {
		text, err := os.ReadFile(name) //nolint:gosec // the operator names it
		if err != nil {
			return nil, invalid(variable, err.Error())
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, invalid(variable, name+" has no certificate")
		}
	}
	variable, certificate := setting("CLIENT_CERTIFICATE")
	_, key := setting("CLIENT_KEY")
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			if variable == "" {
				variable = prefix + "CLIENT_CERTIFICATE"
			}
			return nil, invalid(variable, err.Error())
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
