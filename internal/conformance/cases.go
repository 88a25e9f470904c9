package conformance

import "slices"

// Cases returns all cases, in the order of the page.
func Cases() []Case {
	return slices.Concat(startCases, pullCases, runCases, eventCases, packCases, logCases, startingCases, requestCases, aloneCases, clockCases, killCases, stepCases, stopCases)
}
