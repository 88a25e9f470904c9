package webapi

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/carillon-scheduler/carillon/webapi/contract"
)

// answered are the ids of operations that answered well in some test, in a way that was
// held against the contract.
var answered sync.Map

// otherwise are operations that need not be among them, and why.
var otherwise = map[string]string{
	"tailLogs":             "its tests read the stream event by event",
	"watchLogs":            "its tests read the stream event by event",
	"followEvents":         "its tests read the stream event by event",
	"beginProviderSignIn":  "its tests are browsers that go where they are sent",
	"finishProviderSignIn": "its tests are browsers that go where they are sent",
}

// TestMain runs the tests and, if it was all of them, fails when an operation of the
// contract never answered well: then nothing shows that its answers are what it says.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && all() {
		code = unanswered()
	}
	os.Exit(code)
}

// all reports whether the run leaves no test of this package out.
func all() bool {
	for _, name := range []string{"test.run", "test.list", "test.bench", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

func unanswered() int {
	rules, err := contract.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var missing []string
	for _, item := range rules.Doc.Paths.Map() {
		for _, o := range item.Operations() {
			if _, seen := answered.Load(o.OperationID); !seen && otherwise[o.OperationID] == "" {
				missing = append(missing, o.OperationID)
			}
		}
	}
	if len(missing) == 0 {
		return 0
	}
	slices.Sort(missing)
	fmt.Fprintf(os.Stderr, "no test holds a good answer of these against the contract: %v\n", missing)
	return 1
}
