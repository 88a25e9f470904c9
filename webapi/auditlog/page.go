package auditlog

import (
	"slices"

	"github.com/carillon-scheduler/carillon/logstore"
)

// JoinPages merges what is known now with a page of what is kept. It returns at most
// limit things after a cursor, newest first. Of two versions of one thing, that of now
// counts. more says that the page of what is kept is not the last.
func JoinPages[T any](now, kept []T, more bool, after *logstore.FactCursor, limit int, place func(*T) logstore.FactCursor) (page []T, next string) {
	seen := map[string]bool{}
	for i := range now {
		at := place(&now[i])
		seen[at.ID] = true
		if after == nil || after.After(at.At, at.ID) {
			page = append(page, now[i])
		}
	}
	var last *logstore.FactCursor // what is kept is known as far as here
	for i := range kept {
		at := place(&kept[i])
		if last = &at; !seen[at.ID] {
			page = append(page, kept[i])
		}
	}
	slices.SortFunc(page, func(a, b T) int {
		x, y := place(&a), place(&b)
		switch {
		case x.After(y.At, y.ID):
			return -1
		case y.After(x.At, x.ID):
			return 1
		}
		return 0
	})
	if more && last != nil { // what comes after it may have others in between
		page = slices.DeleteFunc(page, func(t T) bool { at := place(&t); return last.After(at.At, at.ID) })
	}
	if len(page) > limit {
		page, more = page[:limit], true
	}
	if !more {
		return page, ""
	}
	if len(page) == limit || last == nil {
		return page, place(&page[len(page)-1]).String()
	}
	return page, last.String() // some of what is kept has given way
}
