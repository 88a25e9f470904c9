// Package contract checks requests against openapi.yaml before a handler sees them, and shows it
// as a page to read.
//
// [Contract.Check] is the check of an operation, in front of its handler. Its errors name the field and say what
// is wrong in our own words (reasons.go), whatever the checker calls it.
package contract
