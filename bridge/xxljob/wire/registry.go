package wire

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Bounds of a registration, in bytes.
const (
	maxAppName = 64
	maxAddress = 255
)

// Registration is the body of registry and registryRemove: an executor says that it is there, or
// that it leaves.
type Registration struct {
	Group   string // always EXECUTOR
	AppName string
	Address string // a URL
}

// ReadRegistration reads and checks a registration. Its address has no slash at its end. The error
// is an *InvalidError.
func ReadRegistration(body []byte) (Registration, error) {
	var in struct {
		Group   text `json:"registryGroup"`
		AppName text `json:"registryKey"`
		Address text `json:"registryValue"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Registration{}, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("is no JSON with registryGroup, registryKey and registryValue: %v", err)}
	}
	r := Registration{Group: string(in.Group), AppName: string(in.AppName), Address: string(in.Address)}
	switch {
	case r.Group != "EXECUTOR":
		return r, &job.InvalidError{Field: "registryGroup", Reason: fmt.Sprintf("%q must be EXECUTOR", clip.Text(r.Group, 64))}
	case r.AppName == "" || len(r.AppName) > maxAppName:
		return r, &job.InvalidError{Field: "registryKey", Reason: fmt.Sprintf("must be an AppName of 1 to %d bytes", maxAppName)}
	}
	var err error
	r.Address, err = CleanAddress(r.Address)
	return r, err
}

// CleanAddress checks the address of an executor, and returns it without a slash at its end. The
// error is an *InvalidError for registryValue.
func CleanAddress(text string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", &job.InvalidError{Field: "registryValue", Reason: fmt.Sprintf("%q %s", clip.Text(text, 100), why)}
	}
	if len(text) > maxAddress {
		return wrong(fmt.Sprintf("must have at most %d bytes", maxAddress))
	}
	u, err := url.Parse(strings.TrimSpace(text))
	path := ""
	if err == nil {
		path = strings.TrimRight(u.EscapedPath(), "/")
	}
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return wrong("must be an address such as http://10.0.0.5:9999")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return wrong("must have no user, query or fragment")
	case !hostName.MatchString(u.Hostname()) && !isIP(u.Hostname()):
		return wrong("must name its host by letters, digits, '.', '-' and '_', or by an IP address without a zone")
	case u.Port() != "" && !isPort(u.Port()):
		return wrong("must have a port from 1 to 65535")
	case !plainPath.MatchString(path):
		return wrong("must have a path of letters, digits, '.', '-', '_' and '~' between single slashes")
	case slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." }):
		return wrong("must have a path without . and .. between slashes")
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + path, nil
}

// hostName is what a host may be called, and plainPath what a path may be: the bridge calls what
// stands there, and shows it to people.
var (
	hostName  = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$`)
	plainPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)
)

func isIP(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == ""
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
