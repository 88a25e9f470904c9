package xxljob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/xxljob"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// GroupOf returns the executor group that an AppName stands for, as the importer of jobs names it. The
// error is an *InvalidError if nothing of the name can be in a slug.
func GroupOf(appName string) (string, error) {
	group := xxljob.GroupOf(appName)
	if job.CheckSlug("registryKey", group) != nil {
		return "", &job.InvalidError{Field: "registryKey", Reason: fmt.Sprintf("%q has no letters or digits that an executor group could be named with", clip.Text(appName, 64))}
	}
	return group, nil
}

const (
	maxInstance = 63 // of a slug
	hashLength  = 6
)

// InstanceOf returns the name of the instance at an address: always the same, and another for each.
// http://10.0.0.5:9999 is 10-0-0-5-9999. What is not as plain has a hash at its end.
func InstanceOf(address string) string {
	rest, plain := strings.CutPrefix(address, "http://")
	if at, err := netip.ParseAddrPort(rest); err == nil && plain && at.Addr().Is4() {
		return strings.NewReplacer(".", "-", ":", "-").Replace(rest)
	}
	_, rest, _ = strings.Cut(address, "://")
	sum := sha256.Sum256([]byte(address))
	hash := hex.EncodeToString(sum[:])[:hashLength]
	slug := job.Slug(rest, maxInstance-hashLength-1)
	if slug == "" {
		slug = "executor"
	}
	return slug + "-" + hash
}
