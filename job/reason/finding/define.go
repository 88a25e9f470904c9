package finding

import "github.com/carillon-scheduler/carillon/job/reason"

// define adds a row to the table of package reason.
func define(code, template string) *reason.Sentence {
	s := reason.Define(code, template)
	s.Finding = true
	return s
}

// further is [reason.Further] of a finding.
func further(code, template string) *reason.Sentence {
	s := reason.Further(code, template)
	s.Finding = true
	return s
}
