// Package condition evaluates the conditions of steps: expressions of CEL, the Common Expression
// Language, over what is known when a step is to begin.
//
//	results.check.rows > 0 && params.region == "eu"
//	status.load in ["failed", "timed_out"]
//	results.check.?rows.orValue(0) > 0
//
// params are the parameters of the run, results what steps have returned, and status how they have ended,
// both by the names of steps. There are no macros, so no loops: the cost of an expression is bounded by its
// length and its data, and limited besides. There is no clock and no chance: the same values give the same
// answer, for ever.
//
// A field that is not there, a comparison of values that have no order, and a division of whole numbers by
// zero are errors, not false: a condition that cannot be computed must not look like one that said no.
package condition
