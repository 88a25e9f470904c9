package logstoretest

import (
	"testing"

	"github.com/carillon-scheduler/carillon/logstore"
)

// Identity shows that a store that was opened twice is the same, and another one is not.
func Identity(t *testing.T, once, again, another logstore.Store) {
	t.Helper()
	var ids []string
	for _, s := range []logstore.Store{once, again, another} {
		id, err := s.Identity(t.Context())
		if err != nil || id == "" {
			t.Errorf("identity %q, %v", id, err)
		}
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("the identities are %q", ids)
	}
}
