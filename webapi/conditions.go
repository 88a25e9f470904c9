package webapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carillon/bus/cluster"
	"carillon/job"
)

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
			return e, invalid("If-Match", fmt.Sprintf("%q must be one ETag as a get returns it, such as \"17\" with its quotes", ifMatch))
		}
		e.IfRevision = revision
	}
	switch ifNoneMatch {
	case "":
	case "*":
		e.IfAbsent = true
	default:
		return e, invalid("If-None-Match", "must be *")
	}
	if e.IfAbsent && e.IfRevision != 0 {
		return e, invalid("If-None-Match", "cannot hold together with If-Match")
	}
	return e, nil
}

// conditional marks a conflict as a failed precondition if e had one.
func conditional(e cluster.Edit, err error) error {
	if errors.Is(err, job.ErrConflict) && (e.IfRevision != 0 || e.IfAbsent) {
		return fmt.Errorf("%w: %w", errPrecondition, err)
	}
	return err
}
