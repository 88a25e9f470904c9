package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// The roles of a server.
const (
	roleScheduler = "scheduler" // owns shards and fires
	roleStore     = "store"     // moves history into the log store, and trims it
	roleAPI       = "api"       // serves the API and the console, from the log store
	roleAlert     = "alert"     // tells people of what went wrong
)

var allRoles = []string{roleScheduler, roleStore, roleAPI, roleAlert}

func parseRoles(text, store string) ([]string, error) {
	roles := strings.Split(text, ",")
	for _, r := range roles {
		if !slices.Contains(allRoles, r) {
			return nil, &job.InvalidError{Field: "roles", Reason: fmt.Sprintf("%q must be a list of %s", text, strings.Join(allRoles, ", "))}
		}
	}
	if slices.Contains(roles, roleAPI) && !slices.Contains(roles, roleStore) && !isShared(store) {
		return nil, &job.InvalidError{Field: "roles", Reason: "has api without store: the API answers from the file beside it, so one server of a cluster has both, or --store names a shared one"}
	}
	return roles, nil
}
