package webapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// handlers implement the operations of the contract, a group for each family of resources. An
// operation gets a checked request and returns a typed response or an error: request in, one call
// down, response out. It is safe for concurrent use.
type handlers struct {
	*jobHandlers
	*pingHandlers
	*fireHandlers
	*runHandlers
	*logHandlers
	*reportHandlers
	*alertHandlers
	*auditHandlers
	*calendarHandlers
	*importHandlers
	*groupHandlers
	*secretHandlers
	*userHandlers
	*signInHandlers
	*ledgerHandlers
	*backfillHandlers
	*settingHandlers
	*systemHandlers
	*diagnosticHandlers
	*assistantHandlers
}

// nameOf returns the job that a path names.
func nameOf(group, short string) (job.Name, error) { return job.ParseName(group + "/" + short) }

// valueOr returns what v points to, or otherwise where a parameter is absent.
func valueOr(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}

// etag returns a revision as the text of ETag and If-Match.
func etag(revision uint64) string { return `"` + strconv.FormatUint(revision, 10) + `"` }

// editOf returns who makes a change now, and on what condition.
func editOf(user, note, ifMatch, ifNoneMatch string) (cluster.Edit, error) {
	e := cluster.Edit{At: time.Now(), Author: user, Note: note}
	if ifMatch != "" {
		text, opened := strings.CutPrefix(ifMatch, `"`)
		text, closed := strings.CutSuffix(text, `"`)
		revision, err := strconv.ParseUint(text, 10, 64)
		if !opened || !closed || err != nil || revision == 0 {
			return e, job.Invalid("If-Match", "%q must be one ETag as a get returns it, such as \"17\" with its quotes", ifMatch)
		}
		e.IfRevision = revision
	}
	switch ifNoneMatch {
	case "":
	case "*":
		e.IfAbsent = true
	default:
		return e, job.Invalid("If-None-Match", "must be *")
	}
	if e.IfAbsent && e.IfRevision != 0 {
		return e, job.Invalid("If-None-Match", "cannot hold together with If-Match")
	}
	return e, nil
}
